import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { pipeline } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { listen } from './listen.ts';

/** A request that has passed through. */
export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The Range header. */
  readonly range: string | undefined;
  /** How many bytes of the response's body have come from the target so far. */
  responseBytes: number;
  /** The response's status, once there is one. */
  status: number | undefined;
}

export interface CountingProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Everything that has passed so far, in order; may be emptied. */
  readonly seen: SeenRequest[];
  /** Connections to it that are open at this moment. */
  connections(): Promise<number>;
}

/**
 * What becomes of a request: it passes, at once or late; its response is `lost` (the connection closes) or `held` forever; it arrives `twice`,
 * and the second response is sent; it is `overtaken`: it fails, and arrives only when the next one has passed; it is `cut`: it does not arrive,
 * and the connection closes. `changed`: one bit of its body flips on the way; `changed back`: one of its response's. `swallowed`: it does not
 * arrive, and gets the response of a store to a PUT that has read its bytes, and `swallowed unread` as one that has not: with no checksum. Or it
 * gets a response with this status, and does not arrive; the response waits for `after`, and with `isConfirmed` has tag and checksum of what was sent.
 * Or another body arrives in its place.
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
 * An HTTP proxy in front of `target` (an http address) that passes everything on as it is, the Host header included, unless
 * `fate` says otherwise.
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
    const request: SeenRequest = { ...noResponse, method, path: pathname, query: searchParams, range: headers.range };
    seen.push(request);
    const becomes = fate(request);
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
    if (typeof becomes === 'object' && 'afterMs' in becomes) {
      await sleep(becomes.afterMs);
      return pass();
    }
    if (becomes === 'passes') return pass();
    if (becomes === 'cut') return response.destroy();
    const body = await buffer(incoming).catch(() => undefined);
    // Its sender has gone.
    if (body === undefined) return response.destroy();
    if (typeof becomes === 'object' && 'replaced' in becomes) {
      const other = becomes.replaced(body);
      return forward(reply, { 'content-length': other.length }).end(other);
    }
    if (typeof becomes === 'object') {
      request.status = becomes.status;
      return replyWith(becomes, response, incoming, body);
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
    const befalls = {
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
    befalls[becomes]();
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

// Whatever of it could show that it knows the bytes: their tag, and the checksums that came with them.
function asStored({ headers }: IncomingMessage, body: Buffer): Record<string, string> {
  const checksums = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-checksum-'));
  const etag = `"${createHash('md5').update(body).digest('hex')}"`;
  return { ETag: etag, ...(Object.fromEntries(checksums) as Record<string, string>) };
}
