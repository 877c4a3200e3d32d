import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Format, spelledRefusal } from './answer.ts';
import { askedFormat } from './asked-format.ts';
import { type Reason, Refusal } from './refusals.ts';

/** What Node's parser says of a request that it cannot go on with. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

// How long the client may take to read its answer.
const readingMs = 1000;

const reasons: Record<string, Reason> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'too_slow',
};

/** Answers requests that are no HTTP in the shape of every other refusal, where Node has a bare one of its own. */
export function answerBrokenRequests(server: Server): void {
  const running = new WeakMap<Duplex, Set<Exchange>>();
  const unanswered = (socket: Duplex) =>
    [...(running.get(socket) ?? [])].filter(({ response }) => !response.writableFinished);
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.prependListener(event, (request: IncomingMessage, response: ServerResponse) => {
      const exchange = { request, response };
      const exchanges = running.get(request.socket) ?? new Set();
      running.set(request.socket, exchanges.add(exchange));
      // A connection that waits for its next request must not keep the last one's bytes.
      response.once('close', () => exchanges.delete(exchange));
    });
  }
  server.on('clientError', (error: ParserError, socket) => {
    const exchanges = unanswered(socket);
    const whole = exchanges.filter(({ request }) => request.complete).at(-1);
    if (whole) closeAfterAnswer(whole.response);
    else if (exchanges[0]?.response.headersSent) exchanges[0].response.end();
    else if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, error.code, exchanges[0]?.request.url ?? requestLine(error.rawPacket));
  });
  server.on('connect', (_request, socket) => {
    // Node takes all its listeners off such a socket: without one for errors, a reset would end the process.
    socket.on('error', () => {}).resume();
    const last = unanswered(socket).at(-1);
    if (last) last.response.once('close', () => endSoon(socket));
    else endSoon(socket, written(new Refusal('not_found'), 'json'));
  });
}

// Node gives the last packet alone: a head that came in several has no request line there.
function requestLine(packet: Buffer | undefined): string {
  const line = packet?.toString('latin1', 0, 256).trimStart() ?? '';
  return /^[A-Z]+ \S+ HTTP\//.test(line) ? line : '';
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

// What cannot be read follows a whole request, whose answer comes first and is the last.
function closeAfterAnswer(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

function refuse(socket: Duplex, code: string | undefined, asked: string): void {
  endSoon(socket, written(new Refusal(reasons[code ?? ''] ?? 'request_malformed'), askedFormat(asked)));
}

function endSoon(socket: Duplex, last = ''): void {
  socket.end(last);
  setTimeout(() => socket.destroy(), readingMs).unref();
}

function written(refusal: Refusal, format: Format): string {
  const { headers, body } = spelledRefusal(refusal, format);
  const all = { Date: new Date().toUTCString(), 'X-Request-Id': randomUUID(), ...headers, Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`;
}
