import { randomBytes } from 'node:crypto';
import { fuzz } from '@echodrop/testkit/fuzz/fuzz';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { sendTus, tusMetadata } from '@echodrop/testkit/tus-requests';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { expectSound, UploadModel } from './tus-model.ts';

const maxBytes = 256 * 1024;
let stack: Stack;
let photo: Buffer;

beforeAll(async () => {
  photo = Buffer.concat([await samplePhoto('jpg', { width: 64, height: 48 }), randomBytes(2 * maxBytes)]);
  stack = await startStack({
    services: ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'],
    settings: { MAX_MEDIA_BYTES: String(maxBytes) },
  });
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const plain = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) });
const numbers = [
  '',
  '0',
  '00',
  '-1',
  '+1',
  '1.5',
  '1e3',
  '0x10',
  'NaN',
  '9'.repeat(40),
  '9007199254740993',
  '262145',
  '1, 2',
];
const words = [
  '1',
  '2',
  'true',
  'sha1',
  'sha1 !',
  'md4 aaaa',
  'sha256 MTIz',
  'partial',
  'final;/files/a /files/b',
  '1.0.1',
  '0.2.2',
];
const metadata = [
  'key',
  'key !!!',
  'key a2V5,key a2V5',
  ',,',
  'alt /w==',
  `${tusMetadata()},`,
  'message',
  '\xff',
  'x'.repeat(9000),
];
const names = [
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Checksum',
  'Upload-Metadata',
  'Upload-Concat',
];
const others = [
  'Tus-Resumable',
  'Content-Type',
  'X-HTTP-Method-Override',
  'Prefer',
  'Idempotency-Key',
  'Origin',
  'Cookie',
];
const methods = ['POST', 'PATCH', 'HEAD', 'GET', 'OPTIONS', 'PUT', 'post', 'TRACE'];
const value = fc.oneof(fc.constantFrom(...numbers, ...words, ...metadata, ...methods), plain);
const headers = fc.dictionary(fc.constantFrom(...names, ...others), value, { maxKeys: 3 });

const bytes = fc.oneof(fc.nat(2000), fc.nat(2 * maxBytes));
const step = fc.oneof(
  fc.record({ send: fc.array(bytes, { minLength: 1, maxLength: 4 }), headers: fc.oneof(fc.constant({}), headers) }),
  fc.record({ cut: bytes }),
  fc.record({ intrude: fc.constantFrom('HEAD', 'GET', 'PATCH', 'DELETE') }),
);
const cases = fc.record({
  hostile: fc.option(headers, { nil: undefined }),
  size: fc.integer({ min: 5000, max: maxBytes }),
  creation: fc.constantFrom('known', 'deferred', 'with bytes'),
  steps: fc.array(step, { maxLength: 6 }),
  isFinished: fc.boolean(),
});

type Creation = 'known' | 'deferred' | 'with bytes';
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

fuzz(
  'an upload of hostile requests is published with the acknowledged bytes, or removed',
  cases,
  async ({ hostile, size, creation, steps, isFinished }) => {
    if (hostile) await createHostile(hostile);
    const upload = await create(creation, size);
    for (const each of steps) await take(upload, each);
    if (isFinished) await upload.finish(size);
    await upload.end();
  },
  { maxCpuSeconds: 20 },
);

async function createHostile(headers: Record<string, string>): Promise<void> {
  const usual = { 'Upload-Length': '5000', 'Upload-Metadata': tusMetadata() };
  const response = await sendTus(stack, 'POST', '/files/', { ...usual, ...headers });
  expectSound(response);
  if (response.status === 201) await new UploadModel(stack, photo, response, 0).end();
}

async function create(creation: Creation, size: number): Promise<UploadModel> {
  const length: Record<string, string> =
    creation === 'deferred' ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': `${size}` };
  const first = creation === 'with bytes' ? photo.subarray(0, 900) : Buffer.alloc(0);
  const type = creation === 'with bytes' ? { 'Content-Type': 'application/offset+octet-stream' } : undefined;
  const headers = { 'Upload-Metadata': tusMetadata(), ...length, ...type };
  const created = await sendTus(
    stack,
    'POST',
    '/files/',
    headers,
    first.length > 0 ? new Uint8Array(first) : undefined,
  );
  expect(created.status).toBe(201);
  return new UploadModel(stack, photo, created, first.length);
}

async function take(upload: UploadModel, each: Step): Promise<void> {
  if ('cut' in each) await upload.cut(upload.next(each.cut));
  else if ('intrude' in each) await upload.intrude(each.intrude);
  else
    await upload.patch(
      each.send.map((bytes, writer) => upload.next(bytes, writer)),
      each.headers,
    );
}
