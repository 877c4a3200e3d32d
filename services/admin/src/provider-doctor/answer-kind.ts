import type { ProviderResponse } from '@echodrop/identity-provider/provider-connections';
import { fieldsOf } from './fields.ts';

export type AnswerKind = 'acceptance' | 'refusal' | Unfit;

type Unfit = 'page' | 'no JSON' | 'redirect' | 'nowhere' | 'busy' | 'failing' | 'strange';

/** What an answer is, as the auth-verifier would take it, and finer where it takes all for a breakdown. */
export function kindOf({ status, headers, body }: ProviderResponse): AnswerKind {
  if (status === 200) {
    if (/\bhtml\b/i.test(headers['content-type'] ?? '') || /^\s*<(!doctype )?html/i.test(body)) return 'page';
    return fieldsOf(body) ? 'acceptance' : 'no JSON';
  }
  if (status === 401 || status === 403) return 'refusal';
  if (status >= 300 && status < 400) return 'redirect';
  if ([404, 405, 410, 421].includes(status)) return 'nowhere';
  if (status === 429) return 'busy';
  return status >= 500 ? 'failing' : 'strange';
}

/** What is wrong with an answer that is neither acceptance nor refusal, to follow "It". */
export function unfit(kind: Unfit, { status, headers }: ProviderResponse): string {
  switch (kind) {
    case 'page':
      return 'answers with a web page (200, HTML) and not with JSON: this is the address of a site, not of its credential check';
    case 'no JSON':
      return 'answers 200 with something that is no JSON object: this is not the address of its credential check, or not the one for JSON';
    case 'redirect':
      return `redirects (${status}${target(headers.location)}), which is never followed: the address that answers itself has to be configured`;
    case 'nowhere':
      return `${nowhere(status)} (${status}): the address is wrong`;
    case 'busy':
      return `has had too many questions (429): try again later${retryAfter(headers['retry-after'])}`;
    case 'failing':
      return `fails (${status}): the fault is its own, or that of a proxy before it`;
    case 'strange':
      return `answers ${status}, where 401 or 403 would be a refusal`;
  }
}

function nowhere(status: number): string {
  if (status === 405) return 'takes no GET there';
  return status === 421 ? 'does not serve that name' : 'has nothing there';
}

// Parsed and without its query, so that nothing is shown that a terminal could obey, nor what was asked with.
function target(location: string | undefined): string {
  const url = URL.parse(location ?? '');
  return url ? `, to ${url.origin}${url.pathname}`.slice(0, 200) : '';
}

function retryAfter(value: string | undefined): string {
  return value && /^\d{1,6}$/.test(value) ? `, in ${value} s as it says` : '';
}
