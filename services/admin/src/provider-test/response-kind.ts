import type { ProviderResponse } from '@echodrop/identity-provider/provider-connections';
import { objectIn } from '@echodrop/identity-provider/read-caller';

type ResponseKind = 'acceptance' | 'refusal' | Unusable;

type Unusable = 'page' | 'not JSON' | 'redirect' | 'not found' | 'rate limit' | 'server error' | 'unexpected';

/** Classifies a response like the auth-verifier, and finer where that counts every other response as a failure. */
export function kindOf({ status, headers, body }: ProviderResponse): ResponseKind {
  if (status === 200) {
    if (/\bhtml\b/i.test(headers['content-type'] ?? '') || /^\s*<(!doctype )?html/i.test(body)) return 'page';
    return objectIn(body) ? 'acceptance' : 'not JSON';
  }
  if (status === 401 || status === 403) return 'refusal';
  if (status >= 300 && status < 400) return 'redirect';
  if ([404, 405, 410, 421].includes(status)) return 'not found';
  if (status === 429) return 'rate limit';
  return status >= 500 ? 'server error' : 'unexpected';
}

/** Describes a response that is neither acceptance nor refusal, as a predicate of "It". */
export function describeUnusable(kind: Unusable, { status, headers }: ProviderResponse): string {
  const descriptions: Record<Unusable, string> = {
    page: 'returns a web page (200, HTML) instead of JSON: this is the address of a site, not of its credential check',
    'not JSON':
      'returns 200 without a JSON object: this is not the address of its credential check, or not the JSON one',
    redirect: `redirects (${status}${redirectTarget(headers.location)}): redirects are not followed, so configure the final address`,
    'not found': `${notFound[status] ?? 'returns Not Found'} (${status}): the address is wrong`,
    'rate limit': `rate limits (429): try again later${retryAfter(headers['retry-after'])}`,
    'server error': `fails (${status}): the fault is the provider's, or that of a proxy in front of it`,
    unexpected: `returns ${status}; a refusal would be 401 or 403`,
  };
  return descriptions[kind];
}

const notFound: Record<number, string> = { 405: 'does not accept GET', 421: 'does not serve that name' };

// Parsed and without the query: no terminal control sequences, and no credentials sent back.
function redirectTarget(location: string | undefined): string {
  const url = URL.parse(location ?? '');
  return url ? `, to ${url.origin}${url.pathname}`.slice(0, 200) : '';
}

function retryAfter(value: string | undefined): string {
  return value && /^\d{1,6}$/.test(value) ? `, in ${value} s` : '';
}
