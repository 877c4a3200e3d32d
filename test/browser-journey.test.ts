import { barriers } from '@echodrop/testkit/accessibility';
import { describeWithBrowser } from '@echodrop/testkit/describe-with-browser';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { signInSettings } from '@echodrop/testkit/signed-in-tab';
import { startStack } from '@echodrop/testkit/start-stack';
import { openTab } from '@echodrop/testkit/watched-tab';
import { expect, test } from 'vitest';

const soon = { timeout: 20_000 };

const withFile = `async (base64, name, type) => {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], name, { type }));
  return data;
}`;

await describeWithBrowser('a person', (browser) => {
  test('signs in, uploads, copies a link, deletes an upload and signs out, without a field for a credential', async () => {
    await using stack = await startStack({ settings: signInSettings });
    await using opened = await openTab(browser(), { permissions: ['clipboard-read', 'clipboard-write'] });
    const { tab, complaints } = opened;
    const check = async () => {
      expect(await barriers(tab)).toEqual([]);
      expect(await tab.locator('input:visible:not([type=file], [readonly], [type=radio])').count()).toBe(0);
    };

    await tab.goto(stack.site);
    await tab.getByRole('link', { name: 'Upload', exact: true }).click();
    await check();
    await tab.getByRole('button', { name: 'Sign in with Sandbox' }).click();
    await tab.getByRole('button', { name: 'Allow' }).click();
    await tab.getByText(/^Signed in as/).waitFor(soon);
    expect(new URL(tab.url()).pathname + new URL(tab.url()).search).toBe('/upload');
    await check();

    const photo = (await samplePhoto('jpg', { width: 64, height: 48 })).toString('base64');
    await tab.evaluate(`(${withFile})('${photo}', 'dropped.jpg', 'image/jpeg').then((dataTransfer) =>
      document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer })))`);
    const picture = (await samplePhoto('png', { width: 32, height: 24 })).toString('base64');
    await tab.evaluate(`(${withFile})('${picture}', 'pasted.png', 'image/png').then((clipboardData) =>
      document.body.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData })))`);
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no photo') };
    await tab.getByLabel('Photos and videos', { exact: true }).setInputFiles(notes);
    await tab.getByText(/^Unsupported file type/).waitFor(soon);
    await tab.getByRole('group', { name: 'dropped.jpg' }).getByLabel('Caption').fill('The dropped one');
    await check();
    await tab.getByRole('button', { name: 'Upload', exact: true }).click();
    const published = tab.getByRole('region', { name: 'Published' }).getByRole('listitem');
    await expect.poll(() => published.count(), soon).toBe(2);
    await check();
    const link = await published.first().getByRole('link').textContent();
    await published.first().getByRole('button', { name: 'Copy link' }).click();
    await expect.poll(() => tab.evaluate('navigator.clipboard.readText()')).toBe(link);

    await tab.getByRole('link', { name: 'My uploads' }).click();
    const items = tab.getByRole('list', { name: 'Uploads, newest first' }).getByRole('listitem');
    await expect.poll(() => items.count(), soon).toBe(2);
    await check();
    const page = await items.filter({ hasText: 'The dropped one' }).getByRole('link').getAttribute('href');
    await tab.getByRole('button', { name: 'Delete The dropped one' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => items.count(), soon).toBe(1);
    expect((await fetch(`${stack.site}${page}`)).status).toBe(410);
    await tab.getByRole('link', { name: 'Upload from other programs' }).click();
    await tab.getByRole('link', { name: /^Download .*\.sxcu$/ }).waitFor(soon);
    await check();

    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByRole('button', { name: 'Sign in with Sandbox' }).waitFor(soon);
    expect(await tab.evaluate('sessionStorage.length')).toBe(0);
    expect(await tab.getByRole('link', { name: /^Download/ }).count()).toBe(0);
    await check();
    expect(complaints).toEqual([]);
  });
});
