import http from 'node:http';
import https from 'node:https';
import type { StoreDeadlines } from './store-deadlines.ts';

/**
 * Node's own http(s) for minio's client, which has no timeout itself (docs/dependencies.md): a request, waiting for a socket and the
 * reading of the answer included, is destroyed at its deadline.
 */
export function transportWithDeadline(
  protocol: string,
  { callMs, partMs }: StoreDeadlines,
): Pick<typeof http, 'request'> {
  const { request } = protocol === 'https:' ? https : http;
  return {
    request(options: https.RequestOptions, onResponse: (response: http.IncomingMessage) => void) {
      // POST begins a multipart upload or joins its parts; joining many takes its time.
      const ms = options.method === 'POST' ? partMs : callMs;
      const sent = request(options, onResponse);
      const deadline = setTimeout(() => sent.destroy(new Error(`no answer within ${ms} ms`)), ms);
      return sent.once('close', () => clearTimeout(deadline));
    },
  } as Pick<typeof http, 'request'>;
}
