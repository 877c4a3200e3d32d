import type { IncomingHttpHeaders } from 'node:http';

interface Asked {
  readonly headers: IncomingHttpHeaders;
  /** The request's target, as it was sent. */
  readonly target: string;
}

const hostShape = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The address as the client knows it and signs it: the host is that of the Host header, the scheme that of X-Forwarded-Proto where a
 * proxy says `http` or `https`. The server's own name does not count.
 * @returns undefined where Host is no host or the target no path
 */
export function askedAddress({ headers, target }: Asked): URL | undefined {
  if (!hostShape.test(headers.host ?? '') || !target.startsWith('/')) return undefined;
  return URL.parse(`${schemeOf(headers)}://${headers.host}${target}`) ?? undefined;
}

function schemeOf(headers: IncomingHttpHeaders): string {
  const forwarded = String(headers['x-forwarded-proto']).toLowerCase();
  return forwarded === 'https' ? 'https' : 'http';
}
