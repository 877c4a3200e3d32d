import { randomUUID } from 'node:crypto';
import { adminOf } from '@echodrop/testkit/admin-of';
import { anotherUser } from '@echodrop/testkit/another-user';
import type { Answer } from '@echodrop/testkit/documented-answers';
import { RawClient } from '@echodrop/testkit/raw-client';
import { signEcho } from '@echodrop/testkit/sign-echo';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders, secretParts, type UploadOptions, upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';

/** Where a refusal is to be provoked, and the version and format that are asked for. */
export interface Asked {
  readonly stack: Stack;
  readonly photo: Buffer;
  readonly version: 1 | 2;
  readonly format: 'xml' | 'json';
}

// The limits can be reached soon.
const provokingSettings = {
  MAX_MEDIA_BYTES: '65536',
  MAX_UPLOAD_SECONDS: '4',
  MAX_CONCURRENT_UPLOADS: '24',
  UPLOADS_PER_MINUTE_PER_KEY: '100',
  API_KEYS: `${sandbox.apiKey},busy-key,blocked=blocked-key`,
  PROBE_TIMEOUT_MS: '3000',
};

/** A stack whose gateway has known from its start that `anotherUser` and the application `blocked` are blocked. */
export async function startProvokedStack(more: Record<string, string>): Promise<Stack> {
  await using parts = new AsyncDisposableStack();
  const settings = { ...provokingSettings, ...more };
  const services = ['sandbox-provider', 'auth-verifier', 'probe-worker'] as const;
  const system = parts.use(await startStack({ services, settings }));
  await adminOf(system, 'block-user', system.bearerProvider, '12345');
  await adminOf(system, 'block-application', 'blocked');
  const front = parts.use(await startStack({ beside: system, services: ['gateway'], settings }));
  const held = parts.move();
  return {
    ...front,
    services: { ...system.services, ...front.services },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

const key = { name: 'key', content: sandbox.apiKey };
const message = { name: 'message', content: '' };
const file = { name: 'media', filename: 'a.jpg', content: 'anything' };

/** How each refusal is come by, by its reason. Those at the end leave a part of the stack behind that hangs or is down. */
export const provocations: Readonly<Record<string, (asked: Asked) => Promise<Answer>>> = {
  parameter_missing: (asked) => sendForm(asked, [key, file]),
  query_malformed: ({ stack }) =>
    answerOf(fetch(`${stack.gateway}/2/media.json?count=0`, { headers: echoHeaders(stack) })),
  form_malformed: (asked) => send(asked, { headers: { 'Content-Type': 'text/plain' } }),
  credentials_missing: (asked) =>
    send(asked, { parts: [key, message, file], headers: { 'X-Verify-Credentials-Authorization': '' } }),
  credentials_refused: (asked) => {
    const wrong = { ...sandbox, token: { ...sandbox.token, secret: 'wrong' } };
    return send(asked, {
      parts: [key, message, file, ...secretParts.slice(0, 3), { name: 'oauth_secret', content: 'wrong' }],
      headers: { 'X-Verify-Credentials-Authorization': signEcho(asked.stack.provider, wrong) },
    });
  },
  provider_unknown: (asked) =>
    send(asked, { version: 2, headers: { 'X-Auth-Service-Provider': 'https://example.org/' } }),
  api_key_unknown: (asked) => sendForm(asked, [{ name: 'key', content: 'nobody' }, message, file]),
  not_yours: async (asked) => remove(asked, await publish(asked), anotherUser(asked.stack)),
  caller_blocked: (asked) =>
    send(asked, { version: 2, parts: [key, message, file], headers: anotherUser(asked.stack) }),
  application_blocked: (asked) => sendForm(asked, [{ name: 'key', content: 'blocked-key' }, message, file]),
  removed: async (asked) => {
    const repeated = { 'Idempotency-Key': `"${randomUUID()}"` };
    await remove(asked, await publish(asked, repeated));
    return send(asked, { headers: repeated });
  },
  not_found: ({ stack, version }) => answerOf(fetch(`${stack.gateway}/${version}/upload.gif`, { method: 'POST' })),
  method_not_allowed: (asked) => answerOf(fetch(`${asked.stack.gateway}${pathOf(asked)}`)),
  media_too_large: (asked) => send(asked, { media: Buffer.alloc(65_537) }),
  media_unsupported: (asked) => send(asked, { media: Buffer.from('not a photo') }),
  expectation_failed: (asked) => say(asked, (client) => client.head(pathOf(asked), { Expect: 'miracles' }, 0)),
  request_malformed: (asked) => say(asked, (client) => client.write('nonsense\r\n\r\n')),
  headers_too_large: (asked) => say(asked, (client) => client.head(pathOf(asked), { Tale: 'a'.repeat(64 * 1024) }, 0)),
  too_slow: (asked) =>
    say(asked, (client) => client.head(pathOf(asked), uploadRequest(asked.stack, asked).headers, 99)),
  idempotency_key_malformed: (asked) => send(asked, { headers: { 'Idempotency-Key': 'two words' } }),
  idempotency_key_reused: async (asked) => {
    const headers = { 'Idempotency-Key': `"${randomUUID()}"` };
    await send(asked, { headers });
    return send(asked, { headers, message: 'another' });
  },
  overloaded: async (asked) => {
    const { headers } = uploadRequest(asked.stack);
    await using slow = new AsyncDisposableStack();
    return await firstWith(503, async () => {
      slow.use(await RawClient.connect(asked.stack.gateway)).head('/2/upload.json', headers, 99);
      return sendForm(asked, []);
    });
  },
  too_many_requests: (asked) =>
    firstWith(429, () => sendForm(asked, [{ name: 'key', content: 'busy-key' }, message, file])),
  idempotency_key_in_use: async (asked) => {
    await asked.stack.services['probe-worker'].freeze();
    const headers = { 'Idempotency-Key': `"${randomUUID()}"` };
    return Promise.race([send(asked, { headers }), send(asked, { headers })]);
  },
  unavailable: async (asked) => {
    await asked.stack.redis.kill();
    return send(asked, {});
  },
  provider_unavailable: async (asked) => {
    await asked.stack.services['sandbox-provider'].kill();
    return send(asked, {});
  },
};

async function publish(asked: Asked, headers: Record<string, string> = {}): Promise<string> {
  const { text } = await send({ ...asked, version: 2, format: 'json' }, { headers });
  return JSON.parse(text).id;
}

function remove({ stack }: Asked, id: string, headers = echoHeaders(stack)): Promise<Answer> {
  return answerOf(fetch(`${stack.gateway}/2/media/${id}`, { method: 'DELETE', headers }));
}

/** An answer of fetch, with its body read. */
export async function answerOf(asking: Promise<Response>): Promise<Answer> {
  const response = await asking;
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function send({ stack, photo: media, version, format }: Asked, options: UploadOptions): Promise<Answer> {
  return upload(stack, { media, version, format, ...options });
}

function sendForm(asked: Asked, parts: NonNullable<UploadOptions['parts']>): Promise<Answer> {
  return send(asked, { parts: asked.version === 1 ? [...secretParts, ...parts] : parts });
}

/** What is answered to a client that says only this, and waits. */
async function say({ stack }: Asked, words: (client: RawClient) => void): Promise<Answer> {
  await using client = await RawClient.connect(stack.gateway);
  words(client);
  const { status, head, body } = await client.answer();
  const headers = new Headers();
  for (const line of head.split('\r\n').slice(1)) headers.append(...(line.split(': ', 2) as [string, string]));
  return { status, headers, text: body };
}

async function firstWith(status: number, ask: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined;
  await waitUntil(`an answer of ${status}`, 20_000, async () => {
    answer = await ask();
    return answer.status === status;
  });
  return answer as Answer;
}

function pathOf({ version, format }: Asked): string {
  return `/${version}/upload.${format}`;
}
