import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { pipeline } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { listen } from './listen.ts';

/** A request that the proxy received. */
export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The Range header. */
  readonly range: string | undefined;
  /** The Content-Length header. */
  readonly length: string | undefined;
  /** Bytes of the response body received from the target so far. */
  responseBytes: number;
  /** The status of the response, once received. */
  status: number | undefined;
}

export interface CountingProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** All requests so far, in order. Tests may empty it. */
  readonly seen: SeenRequest[];
  /** The number of open connections to the proxy. */
  connections(): Promise<number>;
}

/**
 * What happens to a request. It `passes`, or passes after `afterMs`. Its response is `lost` (the connection closes) or `held` forever. It arrives `twice`,
 * and the second response is sent. It is `overtaken`: it fails, and arrives after the next one. It is `cut`: it does not arrive, and the connection
 * closes. `changed`: a bit of its body is flipped; `changed back`: a bit of the response body. `swallowed`: it does not arrive, but gets the response
 * of a store that has read the bytes; `swallowed unread`: a response without checksum. An `OwnResponse` is sent without forwarding the request: it
 * waits for `after`, and contains tag and checksum of the request if `isConfirmed`. `replaced` replaces the body.
 */
export type Fate =
  | 'passes'
  | 'lost'
  | 'held'
  | 'twice'
  | 'overtaken'
  | 'cut'
  | 'changed'
  | 'changed back'
  | 'swallowed'
  | 'swallowed unread'
  | { readonly afterMs: number }
  | { readonly replaced: (body: Buffer) => Buffer }
  | OwnResponse;

interface OwnResponse {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
  readonly after?: (body: Buffer) => Promise<unknown>;
  readonly isConfirmed?: boolean;
}

const noResponse = { responseBytes: 0, status: undefined };

/**
 * An HTTP proxy in front of `target` (an http address) that forwards everything unchanged, including the Host header, unless
 * `fate` decides otherwise.
 */
export async function startCountingProxy(
  target: string,
  fate: (request: SeenRequest) => Fate = () => 'passes',
): Promise<CountingProxy> {
  const { hostname, port } = new URL(target);
  const seen: SeenRequest[] = [];
  const late: (() => void)[] = [];
  const server = createServer(async (incoming, response) => {
    const { method = '', url = '/', headers } = incoming;
    const { pathname, searchParams } = new URL(url, target);
    const { range, 'content-length': length } = headers;
    const request: SeenRequest = { ...noResponse, method, path: pathname, query: searchParams, range, length };
    seen.push(request);
    const decision = fate(request);
    const forward = (report: (received: IncomingMessage) => void, more = {}) =>
      send({ hostname, port, method, path: url, headers: { ...headers, ...more } }, report).on('error', () =>
        response.destroy(),
      );
    const reply = (received: IncomingMessage) => {
      if (response.destroyed) return void received.resume();
      request.status = received.statusCode;
      response.writeHead(received.statusCode ?? 502, received.rawHeaders);
      received.on('data', (chunk: Buffer) => {
        request.responseBytes += chunk.length;
      });
      pipeline(received, response, () => {
        for (const arrive of late.splice(0)) arrive();
      });
    };
    const pass = () =>
      pipeline(incoming, forward(reply), (error) => {
        if (error) response.destroy();
      });
    if (typeof decision === 'object' && 'afterMs' in decision) {
      await sleep(decision.afterMs);
      return pass();
    }
    if (decision === 'passes') return pass();
    if (decision === 'cut') return response.destroy();
    const body = await buffer(incoming).catch(() => undefined);
    // The client has disconnected.
    if (body === undefined) return response.destroy();
    if (typeof decision === 'object' && 'replaced' in decision) {
      const other = decision.replaced(body);
      return forward(reply, { 'content-length': other.length }).end(other);
    }
    if (typeof decision === 'object') {
      request.status = decision.status;
      return replyWith(decision, response, incoming, body);
    }
    const arrive = (report: (received: IncomingMessage) => void) =>
      forward((received) => {
        request.status = received.statusCode;
        report(received.resume());
      }).end(body);
    const sendChanged = async (received: IncomingMessage) => {
      response.writeHead(received.statusCode ?? 502, received.rawHeaders);
      response.end(flipped(await buffer(received)));
    };
    const actions = {
      changed: () => forward(reply).end(flipped(body)),
      'changed back': () => forward(sendChanged).end(body),
      swallowed: () => response.writeHead(200, asStored(incoming, body)).end(),
      'swallowed unread': () => response.writeHead(200, { ETag: '"any"' }).end(),
      lost: () => arrive(() => response.destroy()),
      held: () => arrive(() => {}),
      twice: () => arrive(() => forward(reply).end(body)),
      overtaken: () => {
        late.push(() => arrive(() => {}));
        response.destroy();
      },
    };
    actions[decision]();
  });
  const { origin: endpoint, [Symbol.asyncDispose]: dispose } = await listen(server);
  return {
    endpoint,
    seen,
    connections: promisify(server.getConnections.bind(server)),
    [Symbol.asyncDispose]: dispose,
  };
}

async function replyWith(own: OwnResponse, response: ServerResponse, incoming: IncomingMessage, body: Buffer) {
  await own.after?.(body);
  response.writeHead(own.status, own.isConfirmed ? asStored(incoming, body) : own.headers).end(own.body);
}

function flipped(body: Buffer): Buffer {
  const other = Buffer.from(body);
  const middle = other.length >> 1;
  if (other.length > 0) other[middle] = (other[middle] ?? 0) ^ 1;
  return other;
}

// The headers of a store that has read the bytes: their tag, and the checksums of the request.
function asStored({ headers }: IncomingMessage, body: Buffer): Record<string, string> {
  const checksums = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-checksum-'));
  const etag = `"${createHash('md5').update(body).digest('hex')}"`;
  return { ETag: etag, ...(Object.fromEntries(checksums) as Record<string, string>) };
}
