import { UnreadableResponse } from '../../client-errors.ts';
import { parseExactJson } from '../../exact-json.ts';
import { limitedFetch } from '../../sign-in/authorization-flow.ts';

const maxMs = 30_000;

/** Fetches a small JSON document, with exact integers. @throws StatusError, or Error for a document that is large, slow or no JSON */
export async function fetchJson(address: string, headers = {}): Promise<unknown> {
  const init = { redirect: 'manual', headers, signal: AbortSignal.timeout(maxMs) } as const;
  const response = await limitedFetch(address, init).catch((cause: unknown) => {
    if (cause instanceof UnreadableResponse) throw cause;
    throw new Error(`${new URL(address).origin} does not respond`, { cause });
  });
  // A redirect is not followed: it could lead credentials elsewhere.
  const target = response.headers.get('location');
  if (response.status >= 300 && response.status < 400 && target)
    throw new Error(`${address} redirects to ${target}. Use the URL of that site.`);
  if (!response.ok) throw new StatusError(address, response.status);
  try {
    return parseExactJson(await response.text());
  } catch {
    throw new Error(`${address} did not return JSON.`);
  }
}

/** A response with an error status. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: number;

  constructor(address: string, status: number) {
    super(`${address} responds ${status}.`);
    this.status = status;
  }
}
