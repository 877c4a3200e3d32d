import { createServer, request as send } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type ListeningServer, listen } from './listen.ts';

/**
 * What a proxy does with a body above its limit. As nginx: it responds at the head, reads what the client still sends, and closes. As HAProxy:
 * it closes at once, so that the client may be reset before it reads the response. `reset` is without a response.
 */
export type Refusal = 'as nginx' | 'as HAProxy' | 'reset';

interface Limit {
  readonly bytes: number;
  readonly refusal: Refusal;
  /** The status of its page. */
  readonly status?: 403 | 413;
}

interface LimitingProxy extends ListeningServer {
  /** Method and status of each request, or `refused`. */
  readonly seen: readonly string[];
}

/** A proxy in front of `target` (an origin) that refuses bodies above a limit. */
export async function startLimitingProxy(
  target: string,
  { bytes, refusal, status = 413 }: Limit,
): Promise<LimitingProxy> {
  const seen: string[] = [];
  const server = createServer(async (incoming, response) => {
    const { method = '', url: path = '/', headers, socket } = incoming;
    if (Number(headers['content-length'] ?? 0) > bytes) {
      seen.push(`${method} refused`);
      if (refusal === 'reset') return socket.resetAndDestroy();
      // Not with `response`, which would wait for the end of the request.
      socket.write(refusalPage(status));
      if (refusal === 'as HAProxy') return socket.destroySoon();
      incoming.on('end', () => socket.end()).resume();
      return;
    }
    const outgoing = send(new URL(path, target), { method, headers, agent: false });
    outgoing.on('response', (received) => {
      seen.push(`${method} ${received.statusCode}`);
      response.writeHead(received.statusCode ?? 502, received.rawHeaders);
      pipeline(received, response).catch(() => {});
    });
    outgoing.on('error', () => socket.destroy());
    pipeline(incoming, outgoing).catch(() => {});
  });
  return { ...(await listen(server)), seen };
}

// Byte by byte that of nginx 1.22 for 413.
function refusalPage(status: 403 | 413): string {
  const reason = { 403: 'Forbidden', 413: 'Request Entity Too Large' }[status];
  const page = [
    ...['<html>', `<head><title>${status} ${reason}</title></head>`, '<body>'],
    ...[`<center><h1>${status} ${reason}</h1></center>`, '<hr><center>nginx/1.22.1</center>', '</body>', '</html>', ''],
  ].join('\r\n');
  return [
    ...[`HTTP/1.1 ${status} ${reason}`, 'Server: nginx/1.22.1', `Date: ${new Date().toUTCString()}`],
    ...['Content-Type: text/html', `Content-Length: ${page.length}`, 'Connection: close', '', page],
  ].join('\r\n');
}
