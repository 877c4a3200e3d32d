import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import {
  type MediaRecord,
  type RecordPage,
  recordsToJson,
  recordsToXml,
  recordToJson,
  recordToXml,
} from '@echodrop/record';
import { restOfBody } from '@echodrop/service/limit-responses';
import { hasBearerToken } from '../admit/credentials.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { contentTypes, type Format } from './format.ts';
import { Refusal } from './refusal-error.ts';

/** 200 with the record (docs/reference/interface.md section 4.3). */
export function sendRecord(response: ServerResponse, format: Format, record: MediaRecord): void {
  sendBody(response, format, format === 'xml' ? recordToXml(record) : recordToJson(record));
}

/** 200 with a page of records, not to be cached. */
export function sendRecords(response: ServerResponse, format: Format, page: RecordPage): void {
  response.setHeader('Cache-Control', 'no-store');
  sendBody(response, format, format === 'xml' ? recordsToXml(page) : recordsToJson(page));
}

function sendBody(response: ServerResponse, format: Format, body: string): void {
  response
    .writeHead(200, { 'Content-Type': contentTypes[format], 'Content-Length': Buffer.byteLength(body) })
    .end(body);
}

/** Sends a refusal, so that the whole refusal arrives even if the client is still sending. */
export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  format: Format,
  refusal: Refusal,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const scheme = hasBearerToken(request.headers) ? 'Bearer' : 'OAuth';
  const { headers, body } = encodeRefusal(refusal, format, scheme);
  sendBounded(request, response, refusal.status, headers, body);
}

/** Sends a response. If the client is still sending, reads a bounded rest of the body first, and closes the connection. */
export function sendBounded(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
): void {
  const stillSending = hasBody(request) && !request.complete;
  response.writeHead(status, { ...headers, ...(stillSending && { Connection: 'close' }) });
  if (!stillSending) return void response.end(body);
  response.write(body);
  drainRest(request, () => response.end());
}

/** Drops what the client still sends, up to 32 MiB or 30 s, then calls `done`. Otherwise a reset would overtake the response. */
function drainRest(request: IncomingMessage, done: () => void): void {
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  const timer = setTimeout(finish, restOfBody.maxMs);
  promise.then(() => clearTimeout(timer)).then(done);
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > restOfBody.maxBytes) finish();
  });
  for (const end of ['end', 'close', 'error']) request.once(end, () => finish());
  // A reader that stopped early may have paused the request and its socket.
  request.socket.resume();
  if (request.destroyed) finish();
  else request.resume();
}

/** Responds with 405, and the allowed methods in `Allow`. */
export function methodNotAllowed(allowed: string, format: Format): RequestListener {
  return (request, response) => {
    response.setHeader('Allow', allowed);
    sendRefusal(request, response, format, new Refusal('method_not_allowed', { values: { methods: allowed } }));
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
