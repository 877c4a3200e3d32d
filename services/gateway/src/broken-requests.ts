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
  const latest = new WeakMap<Duplex, Exchange>();
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.prependListener(event, (request: IncomingMessage, response: ServerResponse) => {
      latest.set(request.socket, { request, response });
    });
  }
  server.on('clientError', (error: ParserError, socket) => {
    const exchange = latest.get(socket);
    if (isWaiting(exchange)) closeAfterAnswer(exchange);
    else if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, error, exchange);
  });
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

// What cannot be read follows a whole request, whose answer comes first and is the last.
function isWaiting(exchange: Exchange | undefined): exchange is Exchange {
  return exchange?.request.complete === true && !exchange.response.writableEnded;
}

function closeAfterAnswer({ response }: Exchange): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

function refuse(socket: Duplex, { code = '', rawPacket }: ParserError, exchange: Exchange | undefined): void {
  const unfinished = exchange?.request.complete === false ? exchange.request.url : undefined;
  const requestLine = unfinished ?? rawPacket?.toString('latin1', 0, 256) ?? '';
  socket.end(written(new Refusal(reasons[code] ?? 'request_malformed'), askedFormat(requestLine)));
  setTimeout(() => socket.destroy(), readingMs).unref();
}

function written(refusal: Refusal, format: Format): string {
  const { headers, body } = spelledRefusal(refusal, format);
  const all = { 'X-Request-Id': randomUUID(), ...headers, Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`;
}
