import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { type UploadOptions, upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const message = 'Häuser & <Boote> "am" Meer \u{1F6A4}\r\nzweite Zeile';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

// First: they count all renditions.
test('pictures and video are made after the upload, before the first view', async () => {
  await uploaded(await samplePhoto('jpg', { width: 320, height: 240 }));
  await uploaded(await sampleVideo('avi', { width: 320, height: 240 }));
  await expect.poll(countRenditions).toBe(3);
  expect(await stack.stored('renditions')).toHaveLength(2);
});

test('a clip that is copied is fetched once, although its page, its poster and oEmbed are requested at once', async () => {
  const before = await costs();
  const id = await uploaded(await sampleVideo('mp4', { width: 320, height: 240 }));
  const oembed = `/oembed?url=${encodeURIComponent(`${stack.site}/${id}`)}`;
  const paths = [`/${id}?wait=0`, `/${id}`, oembed, `/${id}/large.jpg`, `/${id}.jpg`, `/${id}/thumb.jpg`, `/${id}.mp4`];
  const status = async (path: string) => (await fetch(`${stack.site}${path}`)).status;
  await Promise.all(paths.map((path) => expect.poll(() => status(path), { interval: 500 }).toBe(200)));
  const after = await costs();
  expect(after.reads - before.reads).toBe(1);
  expect(after.made - before.made).toBe(2);
});

describe.each([
  [1, 'xml'],
  [1, 'json'],
  [2, 'xml'],
  [2, 'json'],
] as const)('version %i', (version, format) => {
  test(`returns a photo's record as ${format}`, async () => {
    const media = await samplePhoto('jpg', { width: 64, height: 48 });
    const response = await upload(stack, { version, format, media, message, alt: 'Drei Boote' });
    expect(response).toMatchObject({ status: 200 });
    expect(response.headers.get('content-type')).toBe(`application/${format}; charset=utf-8`);
    const record = read(format, response.text);
    expect(record).toMatchObject({ width: '64', height: '48', size: `${media.length}`, type: 'jpg' });
    await expectPublished(record);
    expect(response.text).not.toContain('Drei Boote');
    expect(await (await fetch(`${record['url']}`)).text()).toContain('alt="Drei Boote"');
  });
});

test.each([
  [1, 'xml'],
  [2, 'json'],
] as const)("version %i returns a video's record as %s", async (version, format) => {
  const media = await sampleVideo('mp4', { width: 64, height: 48 });
  const response = await upload(stack, { version, format, media, message });
  expect(response).toMatchObject({ status: 200 });
  const record = read(format, response.text);
  expect(record).toMatchObject({ width: '64', height: '48', size: `${media.length}`, type: 'mp4' });
  await expectPublished(record);
});

test('a repeat gets the same response in any version and format, and publishes nothing', async () => {
  const media = await samplePhoto('png', { width: 32, height: 32 });
  const send = (key: string, options: UploadOptions = {}) =>
    upload(stack, { media, ...options, headers: { 'Idempotency-Key': key } });
  const response = await send('"repeated"');
  expect(response.status).toBe(200);
  const stored = async () => [(await stack.stored('records')).length, (await stack.stored('media')).length];
  const before = await stored();
  for (const version of [2, 1] as const)
    expect(await send('"repeated"', { version })).toMatchObject({ status: 200, text: response.text });
  const xml = await send('repeated', { format: 'xml' });
  expect(xml).toMatchObject({ status: 200, text: expect.stringContaining(`<id>${JSON.parse(response.text).id}</id>`) });
  expect(await stored()).toEqual(before);
});

test('media in several parts is stored completely', async () => {
  const jpeg = await samplePhoto('jpg', { width: 64, height: 48 });
  const media = Buffer.concat([jpeg, Buffer.alloc(20 * 1024 * 1024)]);
  const response = await upload(stack, { media, message });
  const record = read('json', response.text);
  expect(record).toMatchObject({ size: `${media.length}`, type: 'jpg' });
  await expectPublished(record);
});

async function uploaded(media: Buffer): Promise<string> {
  const { status, text } = await upload(stack, { media });
  expect(status).toBe(200);
  return JSON.parse(text).id;
}

const countRenditions = () => sumOfWorker(/^echodrop_renditions_total{.*outcome="created".*} (\d+)$/gm);

/** What the rendition-worker did: objects that it read, and sets that it made. */
async function costs(): Promise<{ reads: number; made: number }> {
  const reads = await sumOfWorker(/^echodrop_store_call_seconds_count{.*operation="read_body".*} (\d+)$/gm);
  return { reads, made: await countRenditions() };
}

async function sumOfWorker(series: RegExp): Promise<number> {
  const metrics = await stack.metrics('rendition-worker');
  return metrics.matchAll(series).reduce((sum, [, count]) => sum + Number(count), 0);
}

async function expectPublished(record: Record<string, string | undefined>): Promise<void> {
  expect(record).toMatchObject({
    id: expect.stringMatching(/^[0-9A-Za-z]{10}$/),
    url: `${stack.site}/${record.id}`,
    text: message,
    timestamp: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/),
    user: `${sandbox.userId}`,
    screen_name: sandbox.screenName,
  });
  const page = await fetch(`${record.url}`);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('Häuser &amp; &lt;Boote&gt;');
  const picture = await fetchOnceMade(`${record.url}/large.jpg`);
  expect(picture.headers.get('content-type')).toBe('image/jpeg');
  expect(Buffer.from(await picture.arrayBuffer()).subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
}

// The site waits a few seconds for a picture, then responds 503.
async function fetchOnceMade(address: string): Promise<Response> {
  let response = new Response();
  await waitUntil('a picture', async () => {
    response = await fetch(address);
    return response.status === 200;
  });
  return response;
}

// The fields of a record as text, to compare formats.
function read(format: 'xml' | 'json', text: string): Record<string, string | undefined> {
  if (format === 'json') {
    const { user, ...fields } = JSON.parse(text);
    const numbers = [fields.width, fields.height, fields.size, user.id];
    expect(numbers.every(Number.isInteger)).toBe(true);
    const texts = Object.entries(fields).map(([name, value]) => [name, String(value)]);
    return { ...Object.fromEntries(texts), user: String(user.id), screen_name: user.screen_name };
  }
  expect(text).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?><image>/);
  const element = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
  const plain = ['url', 'width', 'height', 'size', 'type', 'timestamp', 'screen_name'];
  return {
    ...Object.fromEntries(plain.map((name) => [name, element(name)])),
    id: /<image><id>([^<]*)/.exec(text)?.[1],
    user: /<user><id>([^<]*)/.exec(text)?.[1],
    text: unescaped(element('text') ?? ''),
  };
}

function unescaped(text: string): string {
  return text.replaceAll('&#xD;', '\r').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
