import type { ServerResponse } from 'node:http';
import { ClientGone } from './refusals.ts';

/** Aborted with ClientGone when the client has gone before the end of its answer. */
export function untilGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new ClientGone('the client went away'));
  });
  return gone.signal;
}
