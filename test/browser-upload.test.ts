import { createHmac } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { barriers } from '@echodrop/testkit/accessibility';
import { describeWithBrowser } from '@echodrop/testkit/describe-with-browser';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { openTab, type WatchedTab } from '@echodrop/testkit/watched-tab';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MiB = 1024 * 1024;
const oauth = {
  'Consumer key': sandbox.consumer.key,
  'Consumer secret': sandbox.consumer.secret,
  Token: sandbox.token.key,
  'Token secret': sandbox.token.secret,
};

/** What tests read of a picture in a page. */
interface Image {
  readonly naturalWidth: number;
  decode(): Promise<void>;
}

const signed = `({ address, credentials }) =>
  import('/upload/authorization.js').then(({ signedGet }) => signedGet(address, credentials))`;

const dropped = `(base64) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], 'dropped.jpg', { type: 'image/jpeg' }));
  document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
}`;

await describeWithBrowser('the upload page', (browser) => {
  let stack: Stack;
  let photo: Buffer;

  beforeAll(async () => {
    stack = await startStack({ settings: { WEB_UPLOAD: '1', MAX_MEDIA_BYTES: String(8 * MiB) } });
    photo = await samplePhoto('jpg', { width: 64, height: 48 });
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  /** The page, as browsers have it where the site is on plain http. */
  async function opened(options: BrowserContextOptions = {}): Promise<WatchedTab> {
    const watched = await openTab(browser(), options);
    await watched.tab.addInitScript('Object.defineProperty(crypto, "subtle", { value: undefined })');
    await watched.tab.goto(`${stack.site}/upload`);
    return watched;
  }

  async function fillIn(tab: Page, fields: Record<string, string> = {}): Promise<void> {
    const all = { 'Identity provider': stack.provider, 'API key': sandbox.apiKey, ...oauth, ...fields };
    for (const [label, text] of Object.entries(all)) await tab.getByLabel(label, { exact: true }).fill(text);
  }

  function choose(tab: Page, buffer: Buffer, name = 'photo.jpg', mimeType = 'image/jpeg'): Promise<void> {
    return tab.getByLabel('Photo or video', { exact: true }).setInputFiles({ name, mimeType, buffer });
  }

  const submit = (tab: Page) => tab.getByRole('button', { name: 'Upload', exact: true }).click();
  const said = (tab: Page) => tab.getByRole('status').textContent();
  const soon = { timeout: 20_000 };

  /** Bytes per second, as the way to the gateway lets through. */
  async function slowDown(tab: Page, uploadThroughput: number): Promise<void> {
    const session = await tab.context().newCDPSession(tab);
    await session.send('Network.enable');
    const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
    await session.send('Network.emulateNetworkConditions', conditions);
  }

  test('uploads a photo with its caption, shows how far it is, and then the record and the link', async () => {
    await using watched = await opened();
    const { tab, complaints } = watched;
    await fillIn(tab);
    await tab.getByLabel('Caption').fill('Häuser & <b>Boote</b>');
    await choose(tab, Buffer.concat([photo, Buffer.alloc(3 * MiB)]));
    expect(
      await tab.getByAltText('The chosen photo').evaluate(async (image: Image) => {
        await image.decode();
        return image.naturalWidth;
      }),
    ).toBe(64);

    await slowDown(tab, 3 * MiB);
    await tab.evaluate(`{
      globalThis.seen = [];
      const bar = document.querySelector('progress');
      new MutationObserver(() => seen.push(bar.position)).observe(bar, { attributes: true });
    }`);
    await submit(tab);
    await tab.getByRole('heading', { name: 'Published' }).waitFor(soon);
    const seen = (await tab.evaluate('seen')) as number[];
    const between = seen.filter((position) => position > 0 && position < 1);
    expect(between.length).toBeGreaterThan(1);
    expect(between).toEqual(between.toSorted((a, b) => a - b));

    const record = JSON.parse((await tab.locator('#record').textContent()) ?? '');
    expect(record).toMatchObject({ text: 'Häuser & <b>Boote</b>', width: 64, height: 48, type: 'jpg' });
    expect(record.user).toEqual({ id: sandbox.userId, screen_name: sandbox.screenName });
    expect(await barriers(tab)).toEqual([]);
    await tab.getByRole('link', { name: record.url }).click();
    await tab.waitForURL(record.url);
    expect(await tab.locator('.caption').textContent()).toBe('Häuser & <b>Boote</b>');
    expect(complaints).toEqual([]);
  });

  test('a file that is dropped is taken, a bearer token proves the user, and the keyboard does', async () => {
    await using watched = await opened();
    const { tab, complaints } = watched;
    await tab.evaluate(`(${dropped})('${photo.toString('base64')}')`);
    expect(await tab.evaluate('document.querySelector("#media").files[0].name')).toBe('dropped.jpg');
    await tab.getByLabel('Identity provider').fill(stack.bearerProvider);
    await tab.getByLabel('API key').fill(sandbox.apiKey);
    await tab.getByLabel('OAuth 1.0a').focus();
    await tab.keyboard.press('ArrowRight');
    await tab.keyboard.press('Tab');
    await tab.keyboard.type('sandbox-bearer');
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Published' }).waitFor(soon);
    expect(await tab.evaluate('document.activeElement.textContent')).toBe('Published');

    await tab.getByRole('button', { name: 'Upload another' }).click();
    expect(await tab.evaluate('document.activeElement.id')).toBe('media');
    expect(await tab.evaluate('document.querySelector("#media").files.length')).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('says why an upload was refused, and takes another try', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await fillIn(tab, { 'Token secret': 'wrong' });
    await choose(tab, photo);
    const refusal = async (change: () => Promise<unknown>) => {
      await change();
      await submit(tab);
      await expect.poll(() => tab.getByRole('alert').textContent(), soon).not.toBe('');
      return await tab.getByRole('alert').textContent();
    };
    const enter = (label: string, text: string) => tab.getByLabel(label, { exact: true }).fill(text);
    expect(await refusal(async () => {})).toBe('The credentials were rejected.');
    expect(await barriers(tab)).toEqual([]);
    expect(await refusal(() => enter('Identity provider', 'https://id.example/verify'))).toBe(
      'This server does not accept this identity provider.',
    );
    await fillIn(tab, { 'API key': 'unknown' });
    expect(await refusal(async () => {})).toBe('Unknown API key in parameter key.');
    await fillIn(tab);
    expect(await refusal(() => choose(tab, Buffer.from('no photo'), 'a.txt', 'text/plain'))).toMatch(
      /^Unsupported file type/,
    );
    expect(await refusal(() => choose(tab, Buffer.alloc(10 * MiB)))).toBe('The file exceeds the size limit.');
    await tab.route('**/2/upload.json', (route) => route.abort());
    expect(await refusal(() => choose(tab, photo))).toContain('No response');
    await tab.unroute('**/2/upload.json');
    await submit(tab);
    await tab.getByRole('heading', { name: 'Published' }).waitFor(soon);
  });

  test('a refusal is visible above a keyboard, and the button has the focus', async () => {
    await using watched = await opened({ viewport: { width: 360, height: 140 } });
    const { tab } = watched;
    await fillIn(tab, { 'API key': 'unknown' });
    await choose(tab, photo);
    await submit(tab);
    const refusal = tab.getByText('Unknown API key in parameter key.');
    await refusal.waitFor(soon);
    const box = await refusal.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(140);
    expect(box?.y).toBeGreaterThan(0);
    expect(await tab.evaluate('document.activeElement.id')).toBe('submit');
  });

  test('a caption that is too long as it travels is not sent, and says why', async () => {
    await using watched = await opened();
    const { tab, complaints } = watched;
    await fillIn(tab);
    await choose(tab, photo);
    const caption = tab.getByLabel('Caption');
    const fault = () => caption.evaluate((field: { validationMessage: string }) => field.validationMessage);
    // A line's end takes two bytes, and an umlaut too.
    const longest = `${'ü'.repeat(32_766)}\n\n`;
    await caption.fill(`${longest}a`);
    await submit(tab);
    expect(await fault()).toBe('This caption is too long: 65,537 bytes; the limit is 65,536.');
    expect(await tab.evaluate('document.activeElement.id')).toBe('message');
    await caption.fill(longest);
    expect(await fault()).toBe('');
    await submit(tab);
    await tab.getByRole('heading', { name: 'Published' }).waitFor(soon);
    expect(complaints).toEqual([]);
  });

  test('a file that changed since it was chosen must be chosen again', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await fillIn(tab);
    const path = join(stack.folder, 'changing.jpg');
    await writeFile(path, photo);
    await tab.getByLabel('Photo or video', { exact: true }).setInputFiles(path);
    await writeFile(path, Buffer.concat([photo, photo]));
    await submit(tab);
    const changed = 'The file cannot be read: it is a folder, or was changed or moved. Choose it again.';
    await tab.getByText(changed).waitFor(soon);

    await tab.getByLabel('Photo or video', { exact: true }).setInputFiles(path);
    await tab.route('**/2/upload.json', async (route) => {
      await rm(path);
      await route.abort();
    });
    await submit(tab);
    await tab.getByText(changed).waitFor(soon);
  });

  test('an upload that is cancelled publishes nothing, and the form is there again', async () => {
    await using watched = await opened();
    const { tab, complaints } = watched;
    const records = await stack.stored('records');
    await fillIn(tab);
    await choose(tab, Buffer.concat([photo, Buffer.alloc(6 * MiB)]));
    await slowDown(tab, MiB / 2);
    await submit(tab);
    await expect
      .poll(() => tab.locator('progress').evaluate((bar: { position: number }) => bar.position), soon)
      .toBeGreaterThan(0);
    expect(await barriers(tab)).toEqual([]);
    await tab.getByRole('button', { name: 'Cancel' }).press('Enter');
    expect(await said(tab)).toBe('Cancelled.');
    expect(await tab.getByLabel('Caption').isEnabled()).toBe(true);
    expect(await stack.stored('records')).toEqual(records);
    expect(complaints).toEqual([]);
  });

  test('a missing field gets the focus, even in a closed part of the form', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await choose(tab, photo);
    await tab.getByText('Credentials', { exact: true }).click();
    expect(await tab.getByLabel('API key').isVisible()).toBe(false);
    await submit(tab);
    expect(
      await tab
        .getByLabel('Identity provider')
        .evaluate((field: { matches(selector: string): boolean }) => field.matches(':focus:invalid')),
    ).toBe(true);
  });

  test('secrets stay in the page: only a signature goes, and nothing is stored', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await fillIn(tab);
    await choose(tab, photo);
    await tab.evaluate(`{
      const { send } = XMLHttpRequest.prototype;
      XMLHttpRequest.prototype.send = function (form) {
        globalThis.fields = [...form].map(([name, value]) => [name, String(value)]);
        send.call(this, form);
      };
    }`);
    const [request] = await Promise.all([tab.waitForRequest('**/2/upload.json'), submit(tab)]);
    await tab.getByRole('heading', { name: 'Published' }).waitFor(soon);
    expect(await tab.evaluate('fields')).toEqual([
      ['key', sandbox.apiKey],
      ['message', ''],
      ['media', '[object File]'],
    ]);
    const headers = JSON.stringify(await request.allHeaders());
    expect(headers).toContain('oauth_signature=');
    for (const secret of [sandbox.consumer.secret, sandbox.token.secret]) expect(headers).not.toContain(secret);
    expect(await tab.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
    expect(await tab.context().cookies()).toEqual([]);
  });

  test('the signature of an address with a query is that of RFC 5849', async () => {
    await using watched = await opened();
    const address = 'http://id.example:8000/verify?b=1+2&a=%C3%BC%3D&b=0';
    const credentials = { consumerKey: 'ck', consumerSecret: 'c s&', token: 't', tokenSecret: 't+ü' };
    const header: string = await watched.tab.evaluate(`(${signed})(${JSON.stringify({ address, credentials })})`);
    const value = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(header)?.[1] ?? '';
    const parameters = ['consumer_key', 'nonce', 'signature_method', 'timestamp', 'token', 'version']
      .map((name) => `oauth_${name}=${value(`oauth_${name}`)}`)
      .join('&');
    const normal = `a=%C3%BC%3D&b=0&b=1%202&${parameters}`;
    const base = `GET&http%3A%2F%2Fid.example%3A8000%2Fverify&${encodeURIComponent(normal)}`;
    const signature = createHmac('sha1', 'c%20s%26&t%2B%C3%BC').update(base).digest('base64');
    expect(decodeURIComponent(value('oauth_signature'))).toBe(signature);
    expect(value('realm')).toBe('http://id.example:8000/');
    expect(value('oauth_nonce')).toMatch(/^[0-9a-f]{32}$/);
  });
});
