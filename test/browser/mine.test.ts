import { anotherUser } from '@echodrop/testkit/another-user';
import { axeViolations } from '@echodrop/testkit/browser/accessibility';
import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { openSignedIn, signInSettings } from '@echodrop/testkit/browser/signed-in-tab';
import { openTab, type WatchedTab } from '@echodrop/testkit/browser/watched-tab';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

const pageSize = 20;

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

await describeWithBrowser('My uploads', (browser) => {
  function opened(options: BrowserContextOptions = {}, token = 'sandbox-bearer'): Promise<WatchedTab> {
    return openSignedIn(browser(), stack, { path: '/mine', token, options });
  }

  async function uploaded(message: string): Promise<{ id: string; url: string }> {
    const { text } = await upload(stack, { media: photo, message, headers: anotherUser(stack) });
    return JSON.parse(text);
  }

  const waitForSignIn = (tab: Page) =>
    tab
      .getByRole('button', { name: /^Sign in with/ })
      .first()
      .waitFor();
  const items = (tab: Page) => tab.getByRole('list', { name: 'Uploads, newest first' }).getByRole('listitem');
  const status = (tab: Page) => tab.locator('#news').textContent();
  const focused = (tab: Page) => tab.evaluate('document.activeElement.textContent.trim()');

  test('shows that there are no uploads, and offers sign-in to signed-out users', async () => {
    await using watched = await opened();
    await watched.tab.getByText('No uploads yet.').waitFor();
    expect(await axeViolations(watched.tab)).toEqual([]);
    expect(watched.problems).toEqual([]);

    await using unknown = await openTab(browser());
    await unknown.tab.goto(`${stack.site}/mine`);
    await waitForSignIn(unknown.tab);
    expect(await unknown.tab.locator('#mine').isVisible()).toBe(false);
    expect(await axeViolations(unknown.tab)).toEqual([]);
  });

  test('pages through uploads, copies a link, and deletes after a confirmation that Escape cancels', async () => {
    for (let i = 1; i <= pageSize + 1; i += 1) await uploaded(i === 1 ? '' : `Upload ${i}`);
    const { url } = await uploaded('The newest <b>one</b>');
    await using watched = await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { tab } = watched;
    await expect.poll(() => items(tab).count()).toBe(pageSize);
    await tab.getByRole('button', { name: 'Show more' }).press('Enter');
    await expect.poll(() => items(tab).count()).toBe(pageSize + 2);
    expect(await items(tab).last().getByRole('link').textContent()).toMatch(/^Photo of \d+ \w+ \d{4} at /);
    expect(await focused(tab)).toBe('Upload 2');
    expect(await tab.getByRole('button', { name: 'Show more' }).isVisible()).toBe(false);
    expect(await axeViolations(tab)).toEqual([]);

    const first = items(tab).first();
    await first.getByRole('button', { name: 'Copy link of The newest <b>one</b>' }).click();
    await expect.poll(() => tab.evaluate('navigator.clipboard.readText()')).toBe(url);

    const remove = first.getByRole('button', { name: 'Delete The newest <b>one</b>' });
    const dialog = tab.getByRole('dialog', { name: 'Delete this upload?' });
    await remove.press('Enter');
    await dialog.getByText('This cannot be undone.').waitFor();
    expect(await focused(tab)).toBe('Keep');
    expect(await axeViolations(tab)).toEqual([]);
    await tab.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect((await fetch(url)).status).toBe(200);
    await remove.press('Enter');
    await dialog.getByRole('button', { name: 'Delete' }).press('Enter');
    await expect.poll(() => status(tab)).toBe('Deleted: The newest <b>one</b>.');
    await expect.poll(async () => (await fetch(url)).status).toBe(410);
    expect(await items(tab).count()).toBe(pageSize + 1);
    expect(await focused(tab)).toBe(`Upload ${pageSize + 1}`);
  });

  test('fits a screen 320 px wide, as does the dialog', async () => {
    await uploaded('w'.repeat(300));
    await using watched = await opened({ viewport: { width: 320, height: 568 } });
    const { tab } = watched;
    await items(tab).first().waitFor();
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await tab
      .getByRole('button', { name: /^Delete/ })
      .first()
      .click();
    await tab.getByRole('dialog').waitFor();
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(320);
    expect(await tab.getByRole('dialog').evaluate((box: { scrollWidth: number }) => box.scrollWidth)).toBeLessThan(320);
  });

  test.each([
    [404, 'This picture cannot be displayed.'],
    [503, 'Preview not ready yet.'],
  ])('replaces a thumbnail with status %i by "%s"', async (status, text) => {
    await uploaded('Without a thumbnail');
    await using watched = await opened();
    const { tab } = watched;
    await tab.route('**/thumb.jpg', (route) => route.fulfill({ status }));
    await tab.reload();
    await items(tab).first().getByText(text).waitFor();
  });

  test('reports a missing response, and retries', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await tab.route('**/2/media.json', (route) => route.abort(), { times: 1 });
    await tab.reload();
    await tab.getByText('No response from the server. Check the connection, then try again.').waitFor();
    await tab.getByRole('button', { name: 'Try again' }).click();
    await items(tab).first().waitFor();
    expect(await tab.locator('#refusal').textContent()).toBe('');
  });

  test.each(['{}', '{"media":[{"id":1}]}', '<html></html>'])(
    'reports an invalid list as an unexpected response: %s',
    async (body) => {
      await using watched = await opened();
      const { tab, problems } = watched;
      const headers = { 'Access-Control-Allow-Origin': '*' };
      await tab.route('**/2/media.json', (route) => route.fulfill({ status: 200, headers, body }));
      await tab.reload();
      await tab.getByText('Unexpected response from the server.').waitFor();
      expect(await tab.getByRole('button', { name: 'Try again' }).isVisible()).toBe(true);
      expect(problems).toEqual([]);
    },
  );

  test('reports a failed deletion and keeps the focus; an upload that is already gone leaves the list', async () => {
    const { id } = await uploaded('Gone');
    await using watched = await opened();
    const { tab } = watched;
    await items(tab).first().waitFor();
    await tab.route(`**/2/media/${id}`, (route) => route.abort(), { times: 1 });
    const remove = async () => {
      await tab.getByRole('button', { name: 'Delete Gone' }).click();
      await tab.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    };
    await remove();
    await tab.getByText('No response from the server.').waitFor();
    expect(await items(tab).filter({ hasText: 'Gone' }).count()).toBe(1);
    await expect.poll(() => focused(tab)).toBe('Delete Gone');
    const gone = await fetch(`${stack.gateway}/2/media/${id}`, { method: 'DELETE', headers: anotherUser(stack) });
    expect(gone.status).toBe(204);
    await remove();
    await expect.poll(() => status(tab)).toBe('Deleted: Gone.');
  });

  test('an expired sign-in leads back to the sign-in page', async () => {
    await using watched = await opened({}, 'expired');
    await watched.tab.getByText('Your sign-in has expired.').waitFor();
    expect(await watched.tab.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await watched.tab.getByRole('button', { name: 'Sign in again' }).click();
    await waitForSignIn(watched.tab);
  });
});

await describeWithBrowser(
  'pages that the browser keeps for "back"',
  (browser) => {
    test.each(['/mine', '/mine/apps'])('after sign-out, "back" to %s shows only the sign-in buttons', async (path) => {
      await using watched = await openSignedIn(browser(), stack, { path });
      const { tab } = watched;
      const own = tab.locator('#mine, #apps');
      await own.waitFor();
      // A page with a request in progress may not be kept.
      const requests = () => tab.evaluate('performance.getEntriesByType("resource").map(({ name }) => name)');
      await expect.poll(requests).toContainEqual(expect.stringContaining('/2/media.json'));
      await tab.evaluate(`addEventListener('pageshow', ({ persisted }) => { sessionStorage.isKept = persisted; })`);
      await tab.goto(`${stack.site}/upload`);
      await tab.getByRole('button', { name: 'Sign out' }).click();
      const signIn = tab.getByRole('button', { name: 'Sign in with Sandbox' });
      await signIn.waitFor();
      // Deferred: this call must return before its page goes away.
      await tab.evaluate('setTimeout(() => history.back())');
      await tab.waitForURL(`${stack.site}${path}`);
      await signIn.waitFor();
      expect(await tab.evaluate('sessionStorage.isKept')).toBe('true');
      expect(await own.isVisible()).toBe(false);
      expect(await tab.content()).not.toContain('sandbox-bearer');
    });
  },
  { keepsPages: true },
);
