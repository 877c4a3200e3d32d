import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { trackRequests } from '@echodrop/service/http-server';
import { encodeRefusal } from './response/encode-refusal.ts';
import { type Format, requestedFormat } from './response/format.ts';
import { Refusal } from './response/refusal-error.ts';

/**
 * The HTTP server around the routes. The routes handle `Expect`, so that uploads send 100 Continue after their first checks, and a missing
 * Host. Node's limit for whole requests is off: bodies have limits of their own (docs/why/dependencies.md, "HTTP on Node").
 */
export function gatewayServer(app: RequestListener): Server {
  const server = createServer(
    {
      requestTimeout: 0,
      requireHostHeader: false,
      headersTimeout: 30_000,
      connectionsCheckingInterval: 5000,
      maxHeaderSize: 16 * 1024,
    },
    app,
  );
  server.maxHeadersCount = 100;
  server.on('checkContinue', app);
  refuseBrokenRequests(server);
  return server;
}

/** An error of Node's parser. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

// The client has so long to read the response.
const readingMs = 1000;

function refusalOf({ code }: ParserError): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers_too_large', { message: 'headers' });
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return new Refusal('headers_too_large', { message: 'chunkExtensions' });
  return code === 'ERR_HTTP_REQUEST_TIMEOUT'
    ? new Refusal('too_slow', { message: 'headers' })
    : new Refusal('request_malformed', { message: 'syntax' });
}

/** Responds to malformed HTTP with a refusal, instead of Node's response without a body. */
function refuseBrokenRequests(server: Server): void {
  const running = new WeakMap<Duplex, Set<ServerResponse>>();
  const findUnfinished = (socket: Duplex) => [...(running.get(socket) ?? [])].filter((each) => !each.writableFinished);
  trackRequests(server, ({ socket }, response) => {
    const responses = running.get(socket) ?? new Set();
    running.set(socket, responses.add(response));
    // An idle connection must not keep the bytes of its last request.
    response.once('close', () => responses.delete(response));
  });
  server.on('clientError', (error: ParserError, socket) => {
    const responses = findUnfinished(socket);
    const [first] = responses;
    // The malformed bytes follow a complete request: its response is the last of the connection.
    const last = responses.findLast(({ req }) => req.complete);
    if (last) {
      if (!last.headersSent) last.setHeader('Connection', 'close');
    } else if (first?.headersSent) first.end();
    else if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else {
      const format = requestedFormat(first?.req.url ?? requestLine(error.rawPacket));
      endSoon(socket, refusalOf(error), format);
    }
  });
  server.on('connect', (_request, socket) => {
    // Node removes its listeners from such a socket: without one for errors, a reset would end the process.
    socket.on('error', () => {}).resume();
    const last = findUnfinished(socket).at(-1);
    if (last) last.once('close', () => endSoon(socket));
    else endSoon(socket, new Refusal('not_found', { message: 'path' }));
  });
}

// Node has only the last packet, which lacks the request line if the head came in several.
function requestLine(packet: Buffer | undefined): string {
  const line = packet?.toString('latin1', 0, 256).trimStart() ?? '';
  return /^[A-Z]+ \S+ HTTP\//.test(line) ? line : '';
}

function endSoon(socket: Duplex, refusal?: Refusal, format: Format = 'json'): void {
  socket.end(refusal && encodeResponse(refusal, format));
  setTimeout(() => socket.destroy(), readingMs).unref();
}

function encodeResponse(refusal: Refusal, format: Format): string {
  const { headers, body } = encodeRefusal(refusal, format);
  const all = { Date: new Date().toUTCString(), 'X-Request-Id': randomUUID(), ...headers, Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`;
}
