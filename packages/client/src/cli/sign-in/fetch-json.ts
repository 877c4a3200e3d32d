import { parseExactJson } from '../../exact-json.ts';
import { readBody } from '../../read-body.ts';

const maxMs = 30_000;

/** Fetches a small JSON document, with exact integers. @throws StatusError, or Error for a document that is large, slow or no JSON */
export async function fetchJson(address: string, init: RequestInit = {}): Promise<unknown> {
  const signal = AbortSignal.timeout(maxMs);
  const response = await fetch(address, { redirect: 'manual', ...init, signal }).catch((cause: unknown) => {
    throw new Error(`${new URL(address).origin} does not respond`, { cause });
  });
  if (!response.ok) response.body?.cancel().catch(() => {});
  // Not followed: it could lead credentials elsewhere.
  const target = response.headers.get('location');
  if (response.status >= 300 && response.status < 400 && target)
    throw new Error(`${address} redirects to ${target}. Use the URL of that site.`);
  if (!response.ok) throw new StatusError(address, response.status);
  const text = await readBody(response, signal);
  try {
    return parseExactJson(text);
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
