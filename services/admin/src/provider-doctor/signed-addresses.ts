import type { Provider } from '@echodrop/identity-provider/provider';

const most = 10;

/**
 * Addresses over which a provider may check signatures though another is advertised, the likeliest first, ten at most: the one that
 * is really asked, its path at the advertised host, each of them with the other scheme, with or without a slash at its end, and without its port or with the one that a server
 * behind a proxy puts in.
 */
export function otherSignedAddresses({ advertised, upstream }: Provider): string[] {
  const { pathname, search } = new URL(upstream);
  const inBetween = new URL(pathname + search, advertised);
  const bases = [...new Set([advertised, inBetween.href, upstream])].map((address) => new URL(address));
  const near = bases.flatMap((base) => [base, otherScheme(base), otherSlash(base)]);
  const far = bases.flatMap((base) => [otherSlash(otherScheme(base)), otherPort(base), otherPort(otherScheme(base))]);
  const others = new Set([...near, ...far].map(({ href }) => href));
  others.delete(new URL(advertised).href);
  return [...others].slice(0, most);
}

function otherScheme(base: URL): URL {
  return changed(base, (url) => {
    url.protocol = url.protocol === 'https:' ? 'http:' : 'https:';
  });
}

function otherSlash(base: URL): URL {
  return changed(base, (url) => {
    url.pathname = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : `${url.pathname}/`;
  });
}

function otherPort(base: URL): URL {
  return changed(base, (url) => {
    url.port = url.port ? '' : otherwiseDefault(url);
  });
}

function otherwiseDefault({ protocol }: URL): string {
  return protocol === 'https:' ? '80' : '443';
}

function changed(base: URL, change: (url: URL) => void): URL {
  const url = new URL(base);
  change(url);
  return url;
}
