import { randomBytes, randomUUID } from 'node:crypto';
import { glob, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FormPart } from '@echodrop/testkit/multipart-form';
import { providerFailures, setBehaviour } from '@echodrop/testkit/provider/sandbox-behaviour';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { dumpRedis } from '@echodrop/testkit/servers/dump-redis';
import { signEcho } from '@echodrop/testkit/sign-echo';
import { type ServiceName, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { createTus, patchTus, sendTus } from '@echodrop/testkit/tus-requests';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

// Every secret is a unique marker, to search for in any case.
const markers: string[] = [];
function mark(): string {
  const marker = `m${randomBytes(10).toString('hex')}`;
  markers.push(marker);
  return marker;
}

const signer = { consumer: { key: mark(), secret: mark() }, token: { key: mark(), secret: mark() } };
const bearer = mark();
const apiKey = mark();
const settings = {
  LOG_LEVEL: 'trace',
  API_KEYS: apiKey,
  VERIFIER_SECRET: `${mark()},${mark()}`,
  CACHE_KEY_SECRET: `${mark()},${mark()}`,
  PROBE_QUEUE_SECRET: `${mark()},${mark()}`,
  RENDITION_QUEUE_SECRET: `${mark()},${mark()}`,
  USER_ID_SECRET: mark(),
  UPLOADS_PER_MINUTE_PER_USER: '1000',
  UPLOADS_PER_MINUTE_PER_KEY: '1000',
};

const parts = new AsyncDisposableStack();
let stack: Stack;
/** For peers that never answer. */
let impatient: Stack;
let media: Buffer;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'echodrop-secrets-'));
  parts.defer(() => rm(folder, { recursive: true }));
  const file = join(folder, 'users.json');
  const oauth_tokens = [{ token: signer.token.key, secret: signer.token.secret }];
  const user = { id: 'mia@home', screen_name: 'mia', oauth_tokens, bearer_tokens: [bearer] };
  await writeFile(file, JSON.stringify({ consumers: [signer.consumer], users: [user] }));
  stack = parts.use(
    await startStack({
      settings,
      of: { 'sandbox-provider': { SANDBOX_USERS_FILE: file } },
    }),
  );
  impatient = parts.use(
    await startStack({
      beside: stack,
      services: ['auth-verifier', 'gateway'],
      settings: { ...settings, PROBE_TIMEOUT_MS: '1000', PROVIDER_TIMEOUT_MS: '2000' },
    }),
  );
  media = await samplePhoto('png', { width: 64, height: 48 });
});

afterAll(() => parts.disposeAsync());

afterEach(async () => {
  await expectNoMarker();
});

// Length of the output, and size and time of the files, that were searched: they cannot contain markers created later.
const searched = new Map<string, number>();

async function expectNoMarker(): Promise<void> {
  const written = await readEverythingWritten();
  const found = [...written].filter(([, text]) => {
    const inLowerCase = text.toLowerCase();
    return markers.some((marker) => inLowerCase.includes(marker));
  });
  expect(found.map(([where]) => where)).toEqual([]);
}

/** Everything written so far, by place. Services and Redis may be down. */
async function readEverythingWritten(): Promise<ReadonlyMap<string, string>> {
  const written = new Map<string, string>();
  const stacks = [
    ['', stack],
    ['impatient ', impatient],
  ] as const;
  const services = stacks.flatMap(([which, { services, ops }]) =>
    Object.entries(services).map(([name, { output }]) => [which + name, output, ops(name as ServiceName)] as const),
  );
  for (const [name, output, ops] of services) {
    // A marker may cross the end of the last search.
    written.set(`output of ${name}`, output.slice(Math.max(0, (searched.get(name) ?? 0) - 100)));
    searched.set(name, output.length);
    const metrics = await fetch(`${ops}/metrics`).then(
      (response) => response.text(),
      () => '',
    );
    written.set(`/metrics of ${name}`, metrics);
  }
  written.set('Redis', await dumpRedis(stack.redis).catch(() => ''));
  for await (const entry of glob('**', { cwd: stack.folder, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    const { size, mtimeMs } = await stat(file).catch(() => ({ size: 0, mtimeMs: 0 }));
    if (searched.get(file) === size + mtimeMs) continue;
    written.set(file, file + (await readFile(file, 'latin1').catch(() => '')));
    searched.set(file, size + mtimeMs);
  }
  for (const process of await readdir('/proc').then((names) => names.filter((name) => /^\d+$/.test(name))))
    written.set(`/proc/${process}/cmdline`, await readFile(`/proc/${process}/cmdline`, 'latin1').catch(() => ''));
  return written;
}

interface Sent {
  readonly version?: 1 | 2;
  readonly format?: 'xml' | 'json';
  readonly headers?: Record<string, string>;
  readonly key?: string;
  readonly more?: readonly FormPart[];
  readonly form?: readonly FormPart[];
}

function secretFields(changed: Record<string, string> = {}): FormPart[] {
  const fields = {
    consumer_token: signer.consumer.key,
    consumer_secret: signer.consumer.secret,
    oauth_token: signer.token.key,
    oauth_secret: signer.token.secret,
    ...changed,
  };
  return Object.entries(fields).map(([name, content]) => ({ name, content }));
}

function echoHeaders(header = signEcho(stack.provider, signer), provider = stack.provider): Record<string, string> {
  const signature = /oauth_signature="([^"]*)"/.exec(header)?.[1];
  // In both encodings.
  if (signature) markers.push(signature.toLowerCase(), decodeURIComponent(signature).toLowerCase());
  return { 'X-Verify-Credentials-Authorization': header, 'X-Auth-Service-Provider': provider };
}

/** Uploads and expects no marker in the response. @returns status and reason */
async function send(
  { version = 2, format = 'json', headers = echoHeaders(), key = apiKey, more = [], form }: Sent = {},
  to = stack,
) {
  const sent: readonly FormPart[] = form ?? [
    { name: 'key', content: key },
    ...(version === 1 && more.length === 0 ? secretFields() : more),
    { name: 'message', content: 'a caption' },
    { name: 'media', filename: 'media', content: media },
  ];
  const response = await upload(to, { version, format, headers: version === 2 ? headers : {}, parts: sent });
  for (const marker of markers)
    expect([...response.headers.values(), response.text].join().toLowerCase()).not.toContain(marker);
  return `${response.status} ${/"reason":"(\w+)"|<reason>(\w+)/.exec(response.text)?.slice(1).join('') ?? ''}`.trim();
}

test('successful uploads', async () => {
  for (const format of ['xml', 'json'] as const) {
    expect(await send({ format })).toBe('200');
    expect(await send({ format, version: 1 })).toBe('200');
    expect(await send({ format, headers: echoHeaders(`Bearer ${bearer}`, stack.bearerProvider) })).toBe('200');
  }
  const proof = echoHeaders();
  expect([await send({ headers: proof }), await send({ headers: proof })]).toEqual(['200', '200']);
  expect(await send({ headers: { ...echoHeaders(), 'Idempotency-Key': randomUUID() } })).toBe('200');

  // The search for markers covers them.
  const written = await readEverythingWritten();
  expect(written.get('output of gateway')).toContain('Listening');
  expect(written.get('/metrics of gateway')).toContain('echodrop_uploads_total');
  expect(written.get('Redis')).toContain(':rendition-pictures:');
  // The user, whom only records name.
  expect(written.get('Redis')).not.toMatch(/mia@home|"mia"/);
  expect([...written.keys()].filter((place) => place.includes('/objects/records/')).length).toBeGreaterThan(5);
  expect(written.get(`/proc/${process.pid}/cmdline`)).toContain('node');
});

test('resumable uploads', async () => {
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const secrets = Object.fromEntries(secretFields().map(({ name, content }) => [name, `${content}`]));
  for (const text of [apiKey, ...Object.values(secrets)]) markers.push(encoded(text).toLowerCase());
  const headers = echoHeaders();
  const metadata = { KEY: apiKey, key: apiKey, message: 'a caption', filename: 'sea.png', ...secrets };
  const created = await createTus(stack, media.length, {
    ...headers,
    'Upload-Metadata': Object.entries(metadata)
      .map(([name, text]) => `${name} ${encoded(text)}`)
      .join(),
  });
  expect(created.status).toBe(201);
  const path = created.headers.get('location') ?? '';
  const { headers: known } = await sendTus(stack, 'HEAD', path, headers);
  expect(known.get('upload-metadata')).toBe(`message ${encoded('a caption')},filename ${encoded('sea.png')}`);
  await expectNoMarker();
  expect((await patchTus(stack, path, 0, media, headers)).status).toBe(204);
});

const signedBy = (token: typeof signer.token) => echoHeaders(signEcho(stack.provider, { ...signer, token }));
const nowhere = (header: string) => ({ ...echoHeaders(header), 'X-Auth-Service-Provider': '' });
const beside = (part: FormPart): Sent => ({ version: 1, more: [part, ...secretFields()] });

test.each<[string, string, () => Sent]>([
  ['a wrong signature', '401 credentials_refused', () => ({ headers: signedBy({ key: mark(), secret: mark() }) })],
  [
    'a wrong bearer token',
    '401 credentials_refused',
    () => ({ headers: echoHeaders(`Bearer ${mark()}`, stack.bearerProvider) }),
  ],
  ['an unsupported scheme', '401 credentials_refused', () => ({ headers: echoHeaders(`Basic ${mark()}`) })],
  ['no known scheme', '401 credentials_refused', () => ({ headers: echoHeaders(mark()) })],
  ['wrong secrets', '401 credentials_refused', () => ({ version: 1, more: secretFields({ oauth_secret: mark() }) })],
  [
    'another provider',
    '401 provider_unknown',
    () => ({ headers: echoHeaders(undefined, `https://${mark()}.example/`) }),
  ],
  ['no provider', '401 credentials_missing', () => ({ headers: nowhere(`OAuth ${mark()}`) })],
  ['another API key', '401 api_key_unknown', () => ({ key: mark() })],
  [
    'secrets without a file',
    '400 parameter_missing',
    () => ({ version: 1, form: [{ name: 'key', content: apiKey }, ...secretFields()] }),
  ],
  ['a duplicate secret', '400 form_malformed', () => ({ version: 1, more: [...secretFields(), ...secretFields()] })],
  [
    'a secret that is too long',
    '400 form_malformed',
    () => ({ version: 1, more: secretFields({ oauth_secret: mark().repeat(5000) }) }),
  ],
  ['secrets as part names', '200', () => beside({ name: signer.token.secret, content: 'x' })],
  ['secrets in file names', '200', () => beside({ name: 'other', filename: `${bearer}.jpg`, content: 'x' })],
  [
    'secrets in part headers',
    '400 form_malformed',
    () => beside({ name: 'x', content: '', headers: `Content-Disposition: ${bearer}` }),
  ],
])('%s: %s', async (_, expected, sent) => {
  expect(await send(sent())).toBe(expected);
});

const post = (lines: string) => `POST /2/upload.json HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
const proofOf = (text: string) => `X-Verify-Credentials-Authorization: OAuth ${text}\r\n`;
const empty = 'Host: a\r\nContent-Length: 0\r\n\r\n';

test.each([
  ['the path', (marker: string) => `POST /2/upload.json?oauth_token=${marker} HTTP/1.1\r\n${empty}`],
  ['an unknown path', (marker: string) => `GET /${marker} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['an invalid header', (marker: string) => post(proofOf(`${marker}\0`))],
  ['a header that is too long', (marker: string) => post(proofOf(marker.repeat(2000)))],
  [
    'a duplicate header',
    (marker: string) => post(`${proofOf(marker).repeat(2)}X-Auth-Service-Provider: x\r\nContent-Length: 0\r\n`),
  ],
  ['not HTTP', (marker: string) => `${marker}\r\n\r\n`],
  ['the user in a URL', (marker: string) => `POST http://${marker}@a/2/upload.json HTTP/1.1\r\n${empty}`],
])('%s', async (_, request) => {
  await using client = await RawClient.connect(stack.gateway);
  client.write(request(mark()));
  await waitUntil('a response', async () => client.received.includes('\r\n\r\n'));
  expect(client.received).toMatch(/^HTTP\/1\.1 4\d\d/);
  for (const marker of markers) expect(client.received.toLowerCase()).not.toContain(marker);
});

// 'slow' would time out each time; 'too-many' affects later requests and is tested last.
const failures = providerFailures.filter((each) => each !== 'slow' && each !== 'too-many');

test.each(failures)('a provider that is %s', async (behaviour) => {
  await setBehaviour(stack.provider, behaviour);
  const expected = ['refusing', 'wrong-clock'].includes(behaviour)
    ? '401 credentials_refused'
    : '401 provider_unavailable';
  const to = behaviour === 'endless' ? impatient : stack;
  const [valid, ...wrong] = await Promise.all([
    send({}, to),
    send({ version: 1, more: secretFields({ consumer_secret: mark() }) }, to),
    send({ headers: echoHeaders(`Bearer ${mark()}`, stack.bearerProvider) }, to),
  ]);
  expect(valid).toBe(expected);
  for (const each of wrong) expect(each).toMatch(/^401/);
  await setBehaviour(stack.provider, 'normal');
  expect(await send()).toBe('200');
});

test('a client that disconnects during its upload', async () => {
  const { path, headers, body } = uploadRequest(stack, {
    version: 1,
    parts: [...secretFields(), { name: 'media', content: media }],
  });
  await using client = await RawClient.connect(stack.gateway);
  client.head(path, headers, body.length + 100_000);
  await client.flush(body);
});

test('a request to the verifier without its secret', async () => {
  const verifier = stack.verifier;
  for (const path of ['/verify', '/forget', '/providers', `/${mark()}`]) {
    const response = await fetch(verifier + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${mark()}` },
      body: mark(),
    });
    expect(response.status).toBe(401);
  }
});

test.each<[string, () => { kill(): Promise<void>; restart(): Promise<void> }]>([
  ['the identity provider', () => stack.services['sandbox-provider']],
  ['the auth-verifier', () => stack.services['auth-verifier']],
  ['the probe-worker', () => stack.services['probe-worker']],
  ['Redis', () => stack.redis],
])('%s is down', async (name, component) => {
  await component().kill();
  const to = name === 'the probe-worker' ? impatient : stack;
  expect(await send({}, to)).toMatch(/^(401 provider_unavailable|503 unavailable)$/);
  expect(await send({ version: 1, more: secretFields({ oauth_secret: mark() }) }, to)).toMatch(/^(401|503) /);
  await component().restart();
  await waitUntil('a successful upload', async () => (await send()) === '200');
});

test('a provider that rate limits', async () => {
  await setBehaviour(stack.provider, 'too-many');
  expect(await send()).toBe('401 provider_unavailable');
  expect(await send({ headers: echoHeaders(`Bearer ${mark()}`, stack.bearerProvider) })).toBe(
    '401 provider_unavailable',
  );
});
