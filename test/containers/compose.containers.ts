import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { expectJourney } from '@echodrop/testkit/browser/journey';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ComposeSystem, execIn, startCompose } from './compose-system.ts';
import { killInTurn } from './faults.ts';
import { testHardening } from './hardening.ts';

let system: ComposeSystem;
beforeAll(async () => {
  system = await startCompose();
}, 300_000);
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
});

describe.each([1, 2] as const)('version %i', (version) => {
  test.each(['xml', 'json'] as const)(
    'a photo and a video are uploaded through the proxy and shown (%s)',
    async (format) => {
      const photo = await samplePhoto('jpg', { width: 64, height: 48 });
      const video = await sampleVideo('mp4', { width: 64, height: 48 });
      for (const [type, media] of [
        ['jpg', photo],
        ['mp4', video],
      ] as const) {
        const { status, headers, text } = await upload(system, {
          version,
          format,
          media,
          message: `a ${type} by ${version}`,
        });
        expect({ status, text }).toMatchObject({ status: 200 });
        expect(headers.get('content-type')).toBe(`application/${format}; charset=utf-8`);
        const [, id] = /(?:"id":"|<image><id>)(\w+)/.exec(text) ?? [];
        const page = await fetch(`${system.site}/${id}`);
        expect({ status: page.status, text: await page.text() }).toMatchObject({
          status: 200,
          text: expect.stringContaining(`a ${type} by ${version}`),
        });
        await expect.poll(() => typeOf(`${system.site}/${id}/large.jpg`)).toBe('image/jpeg');
      }
    },
  );
});

await describeWithBrowser('a browser', (browser) => {
  test('opens the page and shows its picture', async () => {
    const { text } = await upload(system, {
      media: await samplePhoto('png', { width: 320, height: 200 }),
      message: 'for a browser',
    });
    const page = await browser().newPage();
    await page.goto(JSON.parse(text).url);
    expect(await page.textContent('main')).toContain('for a browser');
    const drawn = '[...document.images].some((image) => image.complete && image.naturalWidth > 100)';
    expect(await page.waitForFunction(drawn)).toBeTruthy();
  });

  test('signs in, uploads, copies a link, deletes an upload and signs out through the proxy', async () => {
    await expectJourney(browser(), system.site);
  });
});

describe('the proxy', () => {
  test('does not buffer a large upload on disk', async () => {
    const photo = await samplePhoto('jpg', { width: 64, height: 48 });
    const { status } = await upload(system, { media: Buffer.concat([photo, Buffer.alloc(48 * 1024 * 1024)]) });
    expect(status).toBe(200);
    const [kilobytes] = (await execIn(system, 'proxy', 'du', '-sk', '/tmp')).split('\t');
    expect(Number(kilobytes)).toBeLessThan(1000);
  });

  test('forwards a refusal while the client is still sending', async () => {
    await using client = await RawClient.connect(system.gateway);
    client.head('/2/upload.xml', { 'Content-Type': 'multipart/form-data; boundary=b' }, 100_000_000);
    client.write(Buffer.alloc(4 * 1024 * 1024));
    expect(await client.response()).toMatchObject({
      status: 401,
      body: expect.stringContaining('credentials_missing'),
    });
  });

  test('sends 100 Continue to a client that waits for it', async () => {
    await using client = await RawClient.connect(system.gateway);
    const { path, headers, body } = uploadRequest(system, {
      media: await samplePhoto('jpg', { width: 64, height: 48 }),
    });
    client.head(path, { ...headers, Expect: '100-continue' }, body.length);
    await expect.poll(() => client.received).toMatch(/^HTTP\/1\.1 100 /);
    client.write(body);
    expect(await client.response()).toMatchObject({ status: 200 });
  });

  test('forwards HEAD and Range', async () => {
    const { text } = await upload(system, { media: await samplePhoto('jpg', { width: 64, height: 48 }) });
    const picture = `${JSON.parse(text).url}/large.jpg`;
    await expect.poll(() => typeOf(picture)).toBe('image/jpeg');
    const whole = Buffer.from(await (await fetch(picture)).arrayBuffer());
    const head = await fetch(picture, { method: 'HEAD' });
    expect([head.status, Number(head.headers.get('content-length'))]).toEqual([200, whole.length]);
    const part = await fetch(picture, { headers: { Range: 'bytes=10-19' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 10-19/${whole.length}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(10, 20));
  });

  test('ignores X-Forwarded-For from untrusted addresses', async () => {
    await fetch(`${system.gateway}/openapi.json`, { headers: { 'X-Forwarded-For': '192.0.2.1' } });
    expect(await system.compose('logs', '--no-log-prefix', 'proxy')).not.toContain('192.0.2.1');
  });
});

describe('the running system', () => {
  testHardening(() => system);

  test('runs admin commands', async () => {
    const { text } = await upload(system, { media: await samplePhoto('jpg', { width: 64, height: 48 }) });
    expect(await system.compose('run', '--rm', '-T', 'admin', 'list')).toContain(JSON.parse(text).id);
  });
});

describe('without a gateway', () => {
  test('an upload to a gateway that crashes is refused and not retried', async () => {
    await using client = await RawClient.connect(system.gateway);
    const { path, headers, body } = uploadRequest(system, {
      media: await samplePhoto('jpg', { width: 64, height: 48 }),
    });
    client.head(path, headers, body.length);
    client.write(body.subarray(0, body.length / 2));
    await expect.poll(() => metric('gateway', 'echodrop_uploads_in_flight')).toBe(1);
    await killInTurn(system, 'gateway');
    expect(await client.response()).toMatchObject({ status: 502, body: expect.stringContaining('unavailable') });
    expect(await metric('gateway', 'echodrop_uploads_in_flight')).toBe(0);
  });

  test('the proxy refuses in the requested format', async () => {
    await system.compose('stop', 'gateway');
    const xml = await upload(system, { format: 'xml', media: Buffer.from('any') });
    expect(xml).toMatchObject({
      status: 502,
      text: expect.stringMatching(/^<\?xml .*<errors><error><code>502<\/code><reason>unavailable</),
    });
    expect(xml.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    expect(xml.headers.get('retry-after')).toBe('5');
    const json = await upload(system, { format: 'json', media: Buffer.from('any') });
    expect(JSON.parse(json.text)).toMatchObject({ errors: [{ code: 502, reason: 'unavailable' }] });
  });
});

async function typeOf(address: string): Promise<string | null> {
  const response = await fetch(address);
  await response.body?.cancel();
  return response.headers.get('content-type');
}

async function metric(service: string, name: string): Promise<number> {
  const js = 'fetch("http://127.0.0.1:" + process.env.OPS_PORT + "/metrics").then((r) => r.text()).then(console.log)';
  const metrics = await execIn(system, service, 'node', '-e', js);
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (.*)$`, 'm').exec(metrics)?.[1]);
}
