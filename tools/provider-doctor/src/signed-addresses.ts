import type { Provider } from '@echodrop/identity-provider/provider';

const maxAddresses = 10;

/**
 * Addresses over which a provider may check signatures instead of the advertised one, likeliest first, at most ten: the upstream
 * address, its path at the advertised host, and variants of these: the other scheme, with or without a trailing slash, and without a port
 * or with the one that a server behind a proxy inserts.
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

function otherScheme({ href, protocol }: URL): URL {
  return withPart(href, 'protocol', protocol === 'https:' ? 'http:' : 'https:');
}

function otherSlash({ href, pathname }: URL): URL {
  return withPart(href, 'pathname', pathname.endsWith('/') ? pathname.slice(0, -1) : `${pathname}/`);
}

function otherPort({ href, port, protocol }: URL): URL {
  const otherDefault = protocol === 'https:' ? '80' : '443';
  return withPart(href, 'port', port ? '' : otherDefault);
}

function withPart(href: string, part: 'protocol' | 'pathname' | 'port', value: string): URL {
  const url = new URL(href);
  url[part] = value;
  return url;
}
