import type { ServerResponse } from 'node:http';
import { ClientGone } from './refusals.ts';

/** Aborted with ClientGone when the answer has ended or its client has gone. */
export function untilGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort(new ClientGone('the client went away')));
  return gone.signal;
}
