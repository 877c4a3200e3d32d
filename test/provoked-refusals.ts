import { randomUUID } from 'node:crypto';
import { adminOf } from '@echodrop/testkit/admin-of';
import { anotherUser } from '@echodrop/testkit/another-user';
import type { ReceivedResponse } from '@echodrop/testkit/documented-responses';
import { RawClient } from '@echodrop/testkit/raw-client';
import { signEcho } from '@echodrop/testkit/sign-echo';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, secretParts, type UploadOptions, upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { tusProvocations } from './provoked-tus-refusals.ts';

interface ProvokedStack extends Stack {
  /** Gateways beside it: one whose limits are reached at once, and one with a single slot. */
  readonly strict: Stack;
  readonly narrow: Stack;
}

export interface Target {
  readonly stack: ProvokedStack;
  readonly photo: Buffer;
  readonly version: 1 | 2;
  readonly format: 'xml' | 'json';
}

const provokingSettings = {
  MAX_MEDIA_BYTES: '65536',
  API_KEYS: `${sandbox.apiKey},busy-key,blocked=blocked-key`,
};
const strictSettings = { ...provokingSettings, MAX_UPLOAD_SECONDS: '1', UPLOADS_PER_MINUTE_PER_KEY: '1' };

/** Blocks `anotherUser` and the application `blocked`, then starts the gateway, so that it knows both from the start. */
export async function startProvokedStack(more: Record<string, string>): Promise<ProvokedStack> {
  await using parts = new AsyncDisposableStack();
  const settings = { ...provokingSettings, ...more };
  const services = ['sandbox-provider', 'auth-verifier', 'probe-worker'] as const;
  const system = parts.use(await startStack({ services, settings }));
  await adminOf(system, 'block-user', system.bearerProvider, '12345');
  await adminOf(system, 'block-application', 'blocked');
  const front = parts.use(await startStack({ beside: system, services: ['gateway'], settings }));
  const strict = parts.use(await startStack({ beside: system, services: ['gateway'], settings: strictSettings }));
  const narrowSettings = { ...settings, MAX_CONCURRENT_UPLOADS: '1' };
  const narrow = parts.use(await startStack({ beside: system, services: ['gateway'], settings: narrowSettings }));
  const held = parts.move();
  return {
    ...front,
    strict,
    narrow,
    services: { ...system.services, ...front.services },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

const key = { name: 'key', content: sandbox.apiKey };
const message = { name: 'message', content: '' };
const file = { name: 'media', filename: 'a.jpg', content: 'anything' };

/** Provokes each refusal, by its reason. The last ones leave services frozen or down. */
export const provocations: Readonly<Record<string, (target: Target) => Promise<ReceivedResponse>>> = {
  ...tusProvocations,
  parameter_missing: (target) => sendForm(target, [key, file]),
  query_malformed: ({ stack }) =>
    readResponse(fetch(`${stack.gateway}/2/media.json?count=0`, { headers: echoHeaders(stack) })),
  form_malformed: (target) => send(target, { headers: { 'Content-Type': 'text/plain' } }),
  credentials_missing: (target) =>
    send(target, { parts: [key, message, file], headers: { 'X-Verify-Credentials-Authorization': '' } }),
  credentials_refused: (target) => {
    const wrong = { ...sandbox, token: { ...sandbox.token, secret: 'wrong' } };
    return send(target, {
      parts: [key, message, file, ...secretParts.slice(0, 3), { name: 'oauth_secret', content: 'wrong' }],
      headers: { 'X-Verify-Credentials-Authorization': signEcho(target.stack.provider, wrong) },
    });
  },
  provider_unknown: (target) =>
    send(target, { version: 2, headers: { 'X-Auth-Service-Provider': 'https://example.org/' } }),
  api_key_unknown: (target) => sendForm(target, [{ name: 'key', content: 'unknown' }, message, file]),
  not_yours: async (target) => remove(target, await publish(target), anotherUser(target.stack)),
  caller_blocked: (target) =>
    send(target, { version: 2, parts: [key, message, file], headers: anotherUser(target.stack) }),
  application_blocked: (target) => sendForm(target, [{ name: 'key', content: 'blocked-key' }, message, file]),
  removed: async (target) => {
    const repeated = { 'Idempotency-Key': `"${randomUUID()}"` };
    await remove(target, await publish(target, repeated));
    return send(target, { headers: repeated });
  },
  not_found: ({ stack, version }) => readResponse(fetch(`${stack.gateway}/${version}/upload.gif`, { method: 'POST' })),
  method_not_allowed: (target) => readResponse(fetch(`${target.stack.gateway}${pathOf(target)}`)),
  media_too_large: (target) => send(target, { media: Buffer.concat([target.photo, Buffer.alloc(65_537)]) }),
  media_unsupported: (target) => send(target, { media: Buffer.from('not a photo') }),
  expectation_failed: (target) => sendRaw(target, (client) => client.head(pathOf(target), { Expect: 'miracles' }, 0)),
  request_malformed: (target) => sendRaw(target, (client) => client.write('nonsense\r\n\r\n')),
  headers_too_large: (target) =>
    sendRaw(target, (client) => client.head(pathOf(target), { Tale: 'a'.repeat(64 * 1024) }, 0)),
  too_slow: (target) =>
    sendRaw({ ...target, stack: target.stack.strict }, (client) =>
      client.head(pathOf(target), uploadRequest(target.stack, target).headers, 99),
    ),
  idempotency_key_malformed: (target) => send(target, { headers: { 'Idempotency-Key': 'two words' } }),
  idempotency_key_reused: async (target) => {
    const headers = { 'Idempotency-Key': `"${randomUUID()}"` };
    await send(target, { headers });
    return send(target, { headers, message: 'another' });
  },
  overloaded: async (target) => {
    const { narrow } = target.stack;
    const { headers } = uploadRequest(narrow);
    await using slow = new AsyncDisposableStack();
    return await firstWith(503, async () => {
      slow.use(await RawClient.connect(narrow.gateway)).head('/2/upload.json', headers, 99);
      return sendForm({ ...target, stack: { ...target.stack, ...narrow } }, []);
    });
  },
  too_many_requests: (target) => {
    const strict = { ...target, stack: target.stack.strict };
    return firstWith(429, () => sendForm(strict, [{ name: 'key', content: 'busy-key' }, message, file]));
  },
  idempotency_key_in_use: async (target) => {
    await target.stack.services['probe-worker'].freeze();
    const headers = { 'Idempotency-Key': `"${randomUUID()}"` };
    const leaving = new AbortController();
    const both = [1, 2].map(() => send(target, { headers, signal: leaving.signal }));
    // The other waits for its probe, and would hold up probes of the same user.
    return await Promise.race(both).finally(() => leaving.abort());
  },
  unavailable: async (target) => {
    await target.stack.redis.kill();
    return send(target, {});
  },
  provider_unavailable: async (target) => {
    await target.stack.services['sandbox-provider'].kill();
    return send(target, {});
  },
};

/** As `Target`, for a request to any gateway. */
type Sent = Omit<Target, 'stack'> & { readonly stack: Stack };

async function publish(target: Target, headers: Record<string, string> = {}): Promise<string> {
  const { text } = await send({ ...target, version: 2, format: 'json' }, { headers });
  return JSON.parse(text).id;
}

function remove({ stack }: Target, id: string, headers = echoHeaders(stack)): Promise<ReceivedResponse> {
  return readResponse(fetch(`${stack.gateway}/2/media/${id}`, { method: 'DELETE', headers }));
}

export async function readResponse(pending: Promise<Response>): Promise<ReceivedResponse> {
  const response = await pending;
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function send({ stack, photo: media, version, format }: Sent, options: UploadOptions): Promise<ReceivedResponse> {
  return upload(stack, { media, version, format, ...options });
}

function sendForm(target: Sent, parts: NonNullable<UploadOptions['parts']>): Promise<ReceivedResponse> {
  return send(target, { parts: target.version === 1 ? [...secretParts, ...parts] : parts });
}

async function sendRaw({ stack }: Sent, write: (client: RawClient) => void): Promise<ReceivedResponse> {
  await using client = await RawClient.connect(stack.gateway);
  write(client);
  const { status, head, body } = await client.response();
  const headers = new Headers();
  for (const line of head.split('\r\n').slice(1)) headers.append(...(line.split(': ', 2) as [string, string]));
  return { status, headers, text: body };
}

async function firstWith(status: number, request: () => Promise<ReceivedResponse>): Promise<ReceivedResponse> {
  let response: ReceivedResponse | undefined;
  await waitUntil(`a response with status ${status}`, async () => {
    response = await request();
    return response.status === status;
  });
  return response as ReceivedResponse;
}

function pathOf({ version, format }: Target): string {
  return `/${version}/upload.${format}`;
}
