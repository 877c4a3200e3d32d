import { once } from 'node:events';
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem-object-store';
import { type MultipartForm, multipartForm } from '@echodrop/testkit/multipart-form';
import { RawClient } from '@echodrop/testkit/raw-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FormContent } from './form-content.ts';
import { type FormSettings, receiveForm } from './receive-form.ts';
import { Refusal } from './refusals.ts';

const limits = {
  maxMediaBytes: 100_000,
  minBytesPerSecond: 1024,
  maxUploadSeconds: 60,
  compatibility: 'strict',
} as const;
const media = Buffer.from(Array.from({ length: 300 }, (_, i) => i % 256));

const parts = new AsyncDisposableStack();
let address: string;
let folder: string;
let forms: FormSettings;
let received: (form: FormContent) => unknown = () => {};
let after: Promise<unknown> | undefined;

beforeAll(async () => {
  folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'receive-form-'))).path;
  forms = { ...limits, store: new FilesystemObjectStore(folder), orphaned: () => expect.unreachable() };
  const server = createServer(async (request, response) => {
    const end = (outcome: string) => response.setHeader('Content-Length', outcome.length).end(outcome);
    try {
      await using form = await receiveForm(request, forms, after ? { after } : {});
      await received(form);
      end('received');
    } catch (error) {
      end(error instanceof Refusal ? error.reason : `${error}`);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  parts.defer(() => server.closeAllConnections());
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => parts.disposeAsync());

const whole = () =>
  multipartForm(
    [
      { name: 'key', content: 'the key' },
      { name: 'media', filename: 'a.jpg', content: media },
      { name: 'message', content: 'hello' },
    ],
    'b-o',
  );

async function send({ contentType, body }: MultipartForm, pieces = body.length): Promise<string> {
  await using client = await RawClient.connect(address);
  client.head('/', { 'Content-Type': contentType }, body.length);
  for (let at = 0; at < body.length; at += pieces) await client.flush(body.subarray(at, at + pieces));
  return (await client.answer()).body;
}

const stored = () => readdir(join(folder, 'objects/media')).catch(() => []);

test.each([[1], [7], [100_000]])(
  'a form in pieces of %i bytes comes out as it was sent, its media in the store',
  async (pieces) => {
    received = async ({ fields, media: file }) => {
      expect(Object.fromEntries(fields)).toEqual({ key: 'the key', message: 'hello' });
      expect(file?.head).toEqual(media);
      await file?.stored();
      expect(await readFile(join(folder, 'objects/media', `${file?.key}`))).toEqual(media);
    };
    expect(await send(whole(), pieces)).toBe('received');
    expect(await stored()).toEqual([]);
  },
);

test('a form that is cut anywhere before its end is malformed, and nothing of it stays', async () => {
  received = () => {};
  const { contentType, body } = whole();
  const end = body.lastIndexOf('--b-o--') + '--b-o--'.length;
  const cuts = Array.from({ length: end }, (_, cut) => send({ contentType, body: body.subarray(0, cut) }));
  expect(new Set(await Promise.all(cuts))).toEqual(new Set(['form_malformed']));
  expect(await send({ contentType, body: body.subarray(0, end) })).toBe('received');
  expect(await stored()).toEqual([]);
}, 60_000);

test('media that fills the buffer before the verdict does not keep the end of the form from being read', async () => {
  const verdict = Promise.withResolvers<void>();
  after = verdict.promise;
  received = async ({ media: file }) => expect(await file?.stored()).toMatchObject({ size: limits.maxMediaBytes });
  const sent = send(
    multipartForm([
      { name: 'media', filename: 'a.jpg', content: Buffer.alloc(limits.maxMediaBytes) },
      { name: 'message', content: 'hello' },
    ]),
  );
  setTimeout(verdict.resolve, 100);
  expect(await sent).toBe('received');
  after = undefined;
});

test('media that becomes too large while the store takes nothing does not keep the end of the form from being read', async () => {
  const verdict = Promise.withResolvers<void>();
  after = verdict.promise;
  received = async ({ media: file }) => expect(file?.tooLarge).toBe(true);
  const { contentType, body } = multipartForm([
    {
      name: 'media',
      filename: 'a.jpg',
      content: Buffer.concat([Buffer.alloc(65_535), Buffer.from('\r'.repeat(60_000))]),
    },
  ]);
  const sent = send({ contentType, body }, 1024);
  setTimeout(verdict.resolve, 300);
  expect(await sent).toBe('received');
  after = undefined;
});

test('media that is kept stays; media that is not is discarded', async () => {
  received = async ({ media: file }) => {
    await file?.stored();
    file?.commit();
  };
  expect(await send(whole())).toBe('received');
  expect(await stored()).toHaveLength(1);
});

test('media over the limit is seen as such, the rest of the form is read, and nothing of it is stored', async () => {
  const before = await stored();
  const large = multipartForm([
    { name: 'media', filename: 'a.jpg', content: Buffer.alloc(limits.maxMediaBytes + 1) },
    { name: 'message', content: 'hello' },
  ]);
  received = async ({ fields, media: file }) => {
    expect(file?.tooLarge).toBe(true);
    expect(await file?.stored()).toBeUndefined();
    expect(fields.get('message')).toBe('hello');
  };
  expect(await send(large)).toBe('received');
  const exact = multipartForm([{ name: 'media', filename: 'a.jpg', content: Buffer.alloc(limits.maxMediaBytes) }]);
  received = async ({ media: file }) => {
    expect(file?.tooLarge).toBe(false);
    expect(await file?.stored()).toMatchObject({ size: limits.maxMediaBytes });
  };
  expect(await send(exact)).toBe('received');
  expect(await stored()).toEqual(before);
});

test('what the verdict refuses ends a form at once, malformed or not, and stands above its faults', async () => {
  const before = await stored();
  const verdict = Promise.withResolvers<never>();
  after = verdict.promise;
  after.catch(() => {});
  const { contentType, body } = whole();
  await using unfinished = await RawClient.connect(address);
  unfinished.head('/', { 'Content-Type': contentType }, body.length);
  unfinished.write(body.subarray(0, 200));
  const malformed = send({ contentType, body: body.subarray(0, 100) });
  verdict.reject(new Refusal('credentials_refused'));
  expect(await malformed).toBe('credentials_refused');
  expect(await unfinished.answer()).toMatchObject({ body: 'credentials_refused' });
  after = undefined;
  expect(await stored()).toEqual(before);
});
