import { axeViolations } from '@echodrop/testkit/browser/accessibility';
import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { signInSettings } from '@echodrop/testkit/browser/signed-in-tab';
import { openTab, type WatchedTab } from '@echodrop/testkit/browser/watched-tab';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

const oauth = {
  'Consumer key': sandbox.consumer.key,
  'Consumer secret': sandbox.consumer.secret,
  Token: sandbox.token.key,
  'Token secret': sandbox.token.secret,
};

await describeWithBrowser('the upload page, with credentials', (browser) => {
  let stack: Stack;
  let photo: Buffer;

  beforeAll(async () => {
    stack = await startStack({
      services: ['sandbox-provider', 'auth-verifier', 'gateway', 'site', 'rendition-worker'],
      settings: signInSettings,
    });
    photo = await samplePhoto('jpg', { width: 64, height: 48 });
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  const advanced = (tab: Page) => tab.getByText('Advanced: upload with credentials');

  /** Opens the page without the APIs that browsers disable on plain http. */
  async function opened(): Promise<WatchedTab> {
    const watched = await openTab(browser());
    await watched.tab.addInitScript('Object.defineProperty(crypto, "subtle", { value: undefined })');
    await watched.tab.addInitScript('Object.defineProperty(crypto, "randomUUID", { value: undefined })');
    await watched.tab.goto(`${stack.site}/upload`);
    await advanced(watched.tab).click();
    await watched.tab.getByLabel('Photos and videos', { exact: true }).waitFor();
    return watched;
  }

  async function fillIn(tab: Page, fields: Record<string, string> = {}): Promise<void> {
    const all = { 'Identity provider': stack.provider, 'API key': sandbox.apiKey, ...oauth, ...fields };
    for (const [label, text] of Object.entries(all)) await tab.getByLabel(label, { exact: true }).fill(text);
  }

  const choose = (tab: Page) =>
    tab
      .getByLabel('Photos and videos', { exact: true })
      .setInputFiles({ name: 'photo.jpg', mimeType: 'image/jpeg', buffer: photo });
  const submit = (tab: Page) => tab.getByRole('button', { name: 'Upload', exact: true }).click();
  const published = (tab: Page) => tab.getByRole('heading', { name: 'New uploads' }).waitFor();

  test('offers sign-in, and shows no field until the user opens the credentials', async () => {
    await using watched = await openTab(browser());
    const { tab } = watched;
    await tab.goto(`${stack.site}/upload`);
    await tab
      .getByRole('button', { name: /^Sign in with/ })
      .first()
      .waitFor();
    expect(await tab.locator('input:visible').count()).toBe(0);
    expect(await axeViolations(tab)).toEqual([]);
    await tab.evaluate(`document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer: (() => {
      const data = new DataTransfer();
      data.items.add(new File(['a'], 'a.jpg', { type: 'image/jpeg' }));
      return data;
    })() }))`);
    await tab.getByText('Sign in first. Then choose the files.').waitFor();
    await advanced(tab).press('Enter');
    expect(await tab.getByLabel('Identity provider').isVisible()).toBe(true);
    expect(await axeViolations(tab)).toEqual([]);
  });

  test('uploads with a bearer token, by keyboard alone', async () => {
    await using watched = await opened();
    const { tab, problems } = watched;
    await choose(tab);
    await tab.getByLabel('Identity provider').fill(stack.bearerProvider);
    await tab.getByLabel('OAuth 1.0a').focus();
    await tab.keyboard.press('ArrowRight');
    await tab.keyboard.press('Tab');
    await tab.keyboard.type('sandbox-bearer');
    await tab.keyboard.press('Enter');
    await published(tab);
    expect(problems).toEqual([]);
  });

  test('shows why credentials were refused, and allows another attempt', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await fillIn(tab, { 'Token secret': 'wrong' });
    await choose(tab);
    const refusal = async (label: string, text: string) => {
      await tab.getByLabel(label, { exact: true }).fill(text);
      await submit(tab);
      await tab.getByText('1 file not published.').waitFor();
      return await tab.locator('.file .state').textContent();
    };
    expect(await refusal('Token secret', 'wrong')).toBe('The identity provider rejected the credentials.');
    expect(await refusal('Identity provider', 'https://id.example/verify')).toMatch(
      /^This server does not accept this identity provider\. It accepts http:/,
    );
    await fillIn(tab);
    expect(await refusal('API key', 'unknown')).toBe(
      'This server does not accept this API key. Check the parameter `key`.',
    );
    await fillIn(tab);
    await submit(tab);
    await published(tab);
  });

  test('focuses a missing field, even in a collapsed section', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await choose(tab);
    await submit(tab);
    expect(
      await tab
        .getByLabel('Identity provider')
        .evaluate((field: { matches(selector: string): boolean }) => field.matches(':focus:invalid')),
    ).toBe(true);
  });

  test('secrets never leave the page: only a signature is sent, and nothing is stored', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await fillIn(tab);
    await choose(tab);
    await tab.evaluate(`{
      const { send } = XMLHttpRequest.prototype;
      XMLHttpRequest.prototype.send = function (form) {
        globalThis.fields = [...form].map(([name, value]) => [name, String(value)]);
        send.call(this, form);
      };
    }`);
    const [request] = await Promise.all([tab.waitForRequest('**/2/upload.json'), submit(tab)]);
    await published(tab);
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
});
