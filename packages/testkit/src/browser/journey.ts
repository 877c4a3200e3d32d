import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { samplePhoto } from '../samples/sample-media.ts';
import { axeViolations } from './accessibility.ts';
import { openTab } from './watched-tab.ts';

const withFile = `async (base64, name, type) => {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], name, { type }));
  return data;
}`;

/**
 * Expects that a user of the sandbox provider can sign in, upload a dropped and a pasted file while a third is refused, copy a link, delete an upload in
 * "My uploads", see files for other programs, and sign out. Every page passes axe and has no field for credentials. `earlier` are the captions of earlier uploads of the user.
 */
export async function expectJourney(browser: Browser, site: string, earlier: readonly string[] = []): Promise<void> {
  await using opened = await openTab(browser, { permissions: ['clipboard-read', 'clipboard-write'] });
  const { tab, problems } = opened;

  await tab.goto(site);
  await expectAccessible(tab);
  await tab.getByRole('main').getByRole('link', { name: 'Upload', exact: true }).click();
  await expectAccessible(tab);
  await tab.getByRole('button', { name: 'Sign in with Sandbox', exact: true }).click();
  const allow = tab.getByRole('button', { name: 'Allow' });
  await allow.waitFor();
  await expectAccessible(tab);
  await allow.click();
  await tab.getByText(/^Signed in as/).waitFor();
  expect(new URL(tab.url()).pathname + new URL(tab.url()).search).toBe('/upload');
  await expectAccessible(tab);

  await addFiles(tab);
  await tab.getByRole('group', { name: 'dropped.jpg' }).getByLabel('Caption').fill('The dropped one');
  await expectAccessible(tab);
  await tab.getByRole('button', { name: 'Upload', exact: true }).click();
  const published = tab.getByRole('region', { name: 'New uploads' }).getByRole('listitem');
  await expect.poll(() => published.count()).toBe(2);
  await expectAccessible(tab);
  const link = (await published.first().getByRole('link').getAttribute('href')) ?? '';
  await published.first().getByRole('button', { name: 'Copy link' }).click();
  await expect.poll(() => tab.evaluate('navigator.clipboard.readText()')).toBe(link);
  await expectPage(tab, link, 200);

  await tab.getByRole('link', { name: 'My uploads' }).click();
  const items = tab.getByRole('list', { name: 'Uploads, newest first' }).getByRole('listitem');
  await expect.poll(() => items.count()).toBe(2 + earlier.length);
  for (const caption of earlier) await items.filter({ hasText: caption }).waitFor();
  await expectAccessible(tab);
  const path = await items.filter({ hasText: 'The dropped one' }).getByRole('link').getAttribute('href');
  await tab.getByRole('button', { name: 'Delete The dropped one' }).click();
  await expectAccessible(tab);
  await tab.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect.poll(() => items.count()).toBe(1 + earlier.length);
  await expect.poll(async () => (await fetch(`${site}${path}`)).status).toBe(410);
  await expectPage(tab, `${site}${path}`, 410);
  await tab.getByRole('link', { name: 'Upload from other programs' }).click();
  await tab.getByRole('link', { name: /^Download .*\.sxcu$/ }).waitFor();
  await expectAccessible(tab);

  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.getByRole('button', { name: 'Sign in with Sandbox', exact: true }).waitFor();
  expect(await tab.evaluate('sessionStorage.length')).toBe(0);
  expect(await tab.getByRole('link', { name: /^Download/ }).count()).toBe(0);
  await expectAccessible(tab);
  expect(problems).toEqual([]);
}

/** Drops a file, pastes one, and chooses one that is not a photo. */
async function addFiles(tab: Page): Promise<void> {
  // Its script shows it once it listens.
  await tab.getByRole('button', { name: 'Upload', exact: true }).waitFor();
  const photo = (await samplePhoto('jpg', { width: 64, height: 48 })).toString('base64');
  await tab.evaluate(`(${withFile})('${photo}', 'dropped.jpg', 'image/jpeg').then((dataTransfer) =>
    document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer })))`);
  const picture = (await samplePhoto('png', { width: 32, height: 24 })).toString('base64');
  await tab.evaluate(`(${withFile})('${picture}', 'pasted.png', 'image/png').then((clipboardData) =>
    document.body.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData })))`);
  const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no photo') };
  await tab.getByLabel('Photos and videos', { exact: true }).setInputFiles(notes);
  await tab.getByText(/^This is not a supported photo or video/).waitFor();
}

/** Opens a page in another tab. */
async function expectPage(tab: Page, address: string, status: number): Promise<void> {
  const other = await tab.context().newPage();
  const response = await other.goto(address);
  expect(response?.status()).toBe(status);
  expect(await axeViolations(other)).toEqual([]);
  await other.close();
}

async function expectAccessible(tab: Page): Promise<void> {
  expect(await axeViolations(tab)).toEqual([]);
  expect(await tab.locator('input:visible:not([type=file], [readonly], [type=radio])').count()).toBe(0);
}
