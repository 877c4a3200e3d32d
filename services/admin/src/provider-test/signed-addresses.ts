import type { Provider } from '@echodrop/identity-provider/provider';

const maxAddresses = 10;

/**
 * Addresses over which a provider may check signatures instead of the advertised one, likeliest first: the upstream address, its path at the
 * advertised host, and variants of scheme, trailing slash and port, such as a server behind a proxy inserts.
 */
export function otherSignedAddresses({ advertised, upstream }: Provider): string[] {
  const { pathname, search } = new URL(upstream);
  const inBetween = new URL(pathname + search, advertised);
  const bases = [...new Set([advertised, inBetween.href, upstream])].map((address) => new URL(address));
  const near = bases.flatMap((base) => [base, otherScheme(base), otherSlash(base)]);
  const far = bases.flatMap((base) => [otherSlash(otherScheme(base)), otherPort(base), otherPort(otherScheme(base))]);
  const others = new Set([...near, ...far].map(({ href }) => href));
  others.delete(new URL(advertised).href);
  return [...others].slice(0, maxAddresses);
}

const otherScheme = changer('protocol', ({ protocol }) => (protocol === 'https:' ? 'http:' : 'https:'));
const otherSlash = changer('pathname', ({ pathname }) =>
  pathname.endsWith('/') ? pathname.slice(0, -1) : `${pathname}/`,
);
const otherPort = changer('port', ({ port, protocol }) => (port ? '' : protocol === 'https:' ? '80' : '443'));

function changer(part: 'protocol' | 'pathname' | 'port', change: (url: URL) => string): (url: URL) => URL {
  return (url) => Object.assign(new URL(url), { [part]: change(url) });
}
