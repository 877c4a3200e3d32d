import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { MediaRecord } from '@echodrop/record';
import { listen } from '@echodrop/testkit/servers/listen';
import { afterAll, beforeEach } from 'vitest';
import { type ClientOptions, EchodropClient } from './node.ts';

export interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly form: FormData;
}

type Responder = (response: ServerResponse) => void;

/** A fake upload service. It keeps each request and sends the next of `responses`; the last one repeats. */
export interface FakeService extends AsyncDisposable {
  readonly address: string;
  readonly received: Received[];
  responses: Responder[];
}

export async function startFakeService(): Promise<FakeService> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method, url: path, headers } = request;
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const type = headers['content-type'] ?? '';
    const isForm = type.startsWith('multipart/form-data');
    const form = isForm
      ? await new Response(Uint8Array.from(body), { headers: { 'content-type': type } }).formData()
      : new FormData();
    received.push({ method, path, headers, form });
    const [send, ...rest] = service.responses;
    if (rest.length > 0) service.responses = rest;
    send?.(response);
  });
  const { origin: address, [Symbol.asyncDispose]: dispose } = await listen(server);
  const service: FakeService = { address, received, responses: [], [Symbol.asyncDispose]: dispose };
  return service;
}

/** A fake service for the tests of a file. It forgets its requests before each of them. */
export async function useFakeService(): Promise<FakeService> {
  const service = await startFakeService();
  beforeEach(() => {
    service.received.length = 0;
  });
  afterAll(() => service[Symbol.asyncDispose]());
  return service;
}

/** A client of the fake service. */
export function clientOf({ address }: FakeService, options: Partial<ClientOptions> = {}): EchodropClient {
  const proof = { provider: 'http://provider.example/v', credentials: { bearer: 'token' } };
  return new EchodropClient({ service: address, apiKey: 'key', ...proof, ...options });
}

export const respond =
  (status: number, body = '', headers: Record<string, string> = {}): Responder =>
  (response) =>
    response.writeHead(status, headers).end(body);

export const refuse = (status: number, reason: string, headers: Record<string, string> = {}): Responder =>
  respond(status, JSON.stringify({ errors: [{ code: status, reason, message: 'A sentence.' }] }), headers);

/** The connection closes without a response. */
export const lose: Responder = (response) => response.destroy();

/** An endless body of spaces, as a hostile server might send. */
export const endless: Responder = (response) => {
  const some = Buffer.alloc(65_536, ' ');
  const write = () => {
    while (response.write(some));
  };
  response.writeHead(200, { 'Content-Type': 'application/json' }).on('drain', write);
  write();
};

export const someRecord: MediaRecord = {
  id: 'a1B2c3D4e5',
  text: ' a <b> & "c"\r\n\t]]> größe 😀 \uFFFD ',
  url: 'http://site.example/a1B2c3D4e5',
  width: 1800,
  height: 1200,
  size: 300_000,
  type: 'jpg',
  timestamp: new Date('2026-11-21T12:00:00Z'),
  user: { id: 1059182745930317825n, screenName: 'sandbox' },
};
