import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { axeViolations } from '@echodrop/testkit/browser/accessibility';
import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { openSignedIn, signInSettings } from '@echodrop/testkit/browser/signed-in-tab';
import { stopClock, type WatchedTab } from '@echodrop/testkit/browser/watched-tab';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { startLimitingProxy } from '@echodrop/testkit/servers/limiting-proxy';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { BrowserContextOptions, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MiB = 1024 * 1024;

// Pages announce texts in the next frame.
const aFrame = 20;

const dropped = `(base64) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], 'dropped.jpg', { type: 'image/jpeg' }));
  document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));
}`;

const copied = `(base64, more = {}) => navigator.clipboard.write([
  new ClipboardItem({ ...more, 'image/png': new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], { type: 'image/png' }) }),
])`;

await describeWithBrowser('the upload page, signed in', (browser) => {
  let stack: Stack;
  let photo: Buffer;

  beforeAll(async () => {
    stack = await startStack({ settings: (at) => ({ ...signInSettings(at), MAX_MEDIA_BYTES: String(8 * MiB) }) });
    photo = await samplePhoto('jpg', { width: 64, height: 48 });
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  function opened(options: BrowserContextOptions = {}, token = 'sandbox-bearer'): Promise<WatchedTab> {
    return openSignedIn(browser(), stack, { path: '/upload', token, options });
  }

  /** Opens the page with its uploads going through a proxy in front of the gateway. */
  async function openedThrough(proxy: { endpoint: string }): Promise<WatchedTab> {
    // The Content-Security-Policy allows only the gateway.
    const watched = await opened({ bypassCSP: true });
    await uploadThrough(watched.tab, proxy);
    return watched;
  }

  async function uploadThrough(tab: Page, { endpoint }: { endpoint: string }): Promise<void> {
    await tab.evaluate(`{
      const { dataset } = document.querySelector('#sign-in-settings');
      dataset.settings = dataset.settings.replace('${stack.gateway}', '${endpoint}');
    }`);
  }

  const file = (name: string, buffer: Buffer, mimeType = 'image/jpeg') => ({ name, mimeType, buffer });
  const big = (bytes: number) => Buffer.concat([photo, randomBytes(bytes)]);
  const choose = async (tab: Page, ...files: ReturnType<typeof file>[]) =>
    tab
      .getByLabel('Photos and videos', { exact: true })
      // Large bytes would pass through two processes as base64.
      .setInputFiles(files.some(({ buffer }) => buffer.length > MiB) ? await writeFiles(files) : files);
  const row = (tab: Page, name: string) => tab.getByRole('group', { name, exact: true });
  const submit = (tab: Page) => tab.getByRole('button', { name: 'Upload', exact: true }).click();
  const published = (tab: Page) => tab.getByRole('region', { name: 'New uploads' }).getByRole('listitem');
  const status = (tab: Page) => tab.locator('#news').textContent();
  const waiting = (tab: Page, name: string) => row(tab, name).getByText('Trying again in');
  const description = async (tab: Page, name: string) =>
    tab.locator(`#${await row(tab, name).getAttribute('aria-describedby')}`).textContent();
  /** Waits until the file is published, and ends the waits between its attempts, in a page whose clock stands still. */
  const publishWithWaits = (tab: Page, name: string) =>
    waitUntil(`the publication of ${name}`, async () => {
      // In small steps: the text may outlast its wait, and a request stalls after two minutes of this clock.
      if (await waiting(tab, name).isVisible()) await tab.clock.runFor(1000);
      return (await published(tab).count()) === 1;
    });
  const recordRevoked = (tab: Page) => tab.evaluate('revoked = []; URL.revokeObjectURL = (url) => revoked.push(url);');
  const revoked = (tab: Page) => tab.evaluate('revoked');
  const focused = (tab: Page) => tab.evaluate('document.activeElement.textContent.trim()');

  async function writeFiles(files: readonly ReturnType<typeof file>[]): Promise<string[]> {
    const folder = await mkdtemp(join(stack.folder, 'chosen-'));
    await Promise.all(files.map(({ name, buffer }) => writeFile(join(folder, name), buffer)));
    return files.map(({ name }) => join(folder, name));
  }

  /** Makes uploads so slow that they do not end before the test has looked. @returns what ends that */
  async function slowDown(tab: Page): Promise<() => Promise<unknown>> {
    const session = await tab.context().newCDPSession(tab);
    await session.send('Network.enable');
    const limitTo = (uploadThroughput: number) =>
      session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      });
    await limitTo(MiB / 16);
    return () => limitTo(-1);
  }

  test('uploads several files, shows the progress of each and of all, and copies link and embed codes', async () => {
    await using watched = await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { tab, problems } = watched;
    expect(await axeViolations(tab)).toEqual([]);
    await choose(tab, file('first.jpg', big(2 * MiB)), file('second.jpg', big(2 * MiB)));
    await expect.poll(() => status(tab)).toBe('2 files added.');
    await row(tab, 'first.jpg').getByLabel('Caption').fill('Häuser & <b>Boote</b>');
    await row(tab, 'first.jpg').getByLabel('Alternative text').fill('Red houses at a harbour');
    expect(await axeViolations(tab)).toEqual([]);

    const endSlowness = await slowDown(tab);
    await tab.evaluate(`{
      globalThis.seen = new Map();
      for (const bar of document.querySelectorAll('progress')) {
        const label = bar.getAttribute('aria-label');
        seen.set(label, []);
        new MutationObserver(() => seen.get(label).push(bar.position)).observe(bar, { attributes: true });
      }
    }`);
    await submit(tab);
    const between = async () => {
      const seen = (await tab.evaluate('[...seen]')) as [string, number[]][];
      return seen.map(([label, all]) => [label, all.filter((position) => position > 0 && position < 1)] as const);
    };
    await expect.poll(async () => (await between()).every(([, positions]) => positions.length > 1)).toBe(true);
    await endSlowness();
    await expect.poll(() => published(tab).count()).toBe(2);
    const seen = await between();
    expect(seen.map(([label]) => label)).toEqual(
      expect.arrayContaining(['Progress of first.jpg', 'Progress of second.jpg', 'Progress of all files']),
    );
    for (const [, positions] of seen) expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    await expect.poll(() => status(tab)).toBe('2 files published.');
    expect(await focused(tab)).toBe('New uploads');
    expect(await tab.locator('#files li').count()).toBe(0);

    const item = published(tab).filter({ has: tab.getByAltText('Preview of first.jpg') });
    const link = (await item.getByRole('link').getAttribute('href')) ?? '';
    expect(await item.getByRole('link').textContent()).toBe('Häuser & <b>Boote</b>');
    const copy = async (what: string) => {
      await item.getByRole('button', { name: `Copy ${what}` }).click();
      await expect.poll(() => tab.locator('main > [role=status]').textContent()).toBe(`Copied ${what}.`);
      return await tab.evaluate('navigator.clipboard.readText()');
    };
    const codes = [await copy('link'), await copy('Markdown'), await copy('HTML'), await copy('BBCode')];
    expect(await axeViolations(tab)).toEqual([]);
    const page = tab.context().waitForEvent('page');
    await item.getByRole('link').click();
    const shown = await page;
    await shown.waitForURL(link);
    expect(await shown.locator('.caption').textContent()).toBe('Häuser & <b>Boote</b>');
    for (const [i, name] of ['Link', 'Markdown', 'HTML', 'BBCode'].entries())
      expect(await shown.getByLabel(name, { exact: true }).inputValue()).toBe(codes[i]);
    expect(problems).toEqual([]);
  });

  test('accepts dropped, pasted and photographed files, and uploads by keyboard alone', async () => {
    await using watched = await opened({
      permissions: ['clipboard-read', 'clipboard-write'],
      hasTouch: true,
      isMobile: true,
    });
    const { tab, problems } = watched;
    await tab.evaluate(`(${dropped})('${photo.toString('base64')}')`);
    const png = await samplePhoto('png', { width: 32, height: 24 });
    await tab.evaluate(`(${copied})('${png.toString('base64')}')`);
    await tab.keyboard.press('Control+V');
    await row(tab, 'pasted 1.png').waitFor();
    expect(await tab.getByLabel('Take a photo').isVisible()).toBe(true);
    await tab.getByLabel('Take a photo').setInputFiles(file('camera.jpg', photo));
    await tab.getByLabel('Photos and videos', { exact: true }).focus();
    const submitButton = tab.getByRole('button', { name: 'Upload', exact: true });
    for (let presses = 0; presses < 30; presses += 1) {
      if (await submitButton.evaluate((button: { matches(selector: string): boolean }) => button.matches(':focus')))
        break;
      await tab.keyboard.press('Tab');
    }
    await tab.keyboard.press('Enter');
    await expect.poll(() => published(tab).count()).toBe(3);
    expect(problems).toEqual([]);
  });

  test('pastes text into a caption even if the clipboard also has a picture', async () => {
    await using watched = await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { tab } = watched;
    await choose(tab, file('a.jpg', photo));
    const png = await samplePhoto('png', { width: 32, height: 24 });
    await tab.evaluate(`(${copied})('${png.toString('base64')}', { 'text/plain': 'From a table' })`);
    const caption = row(tab, 'a.jpg').getByLabel('Caption');
    await caption.press('Control+V');
    await expect.poll(() => caption.inputValue()).toBe('From a table');
    expect(await tab.locator('#files li').count()).toBe(1);
  });

  test('on a phone, "Take a photo" opens the camera and shows its focus', async () => {
    await using watched = await opened({ hasTouch: true, isMobile: true, viewport: { width: 360, height: 740 } });
    const { tab } = watched;
    const button = tab.getByText('Take a photo', { exact: true });
    await tab.getByLabel('Photos and videos', { exact: true }).focus();
    await tab.keyboard.press('Tab');
    const outline = "getComputedStyle(document.querySelector('[for=camera]')).outlineStyle";
    expect(await tab.evaluate(outline)).toBe('solid');
    const [chooser] = await Promise.all([tab.waitForEvent('filechooser'), button.click()]);
    expect(await chooser.element().getAttribute('capture')).toBe('environment');
  });

  test('a file that is too large, empty or of an unsupported type is not sent, and the reason is shown', async () => {
    await using watched = await opened();
    const { tab } = watched;
    const requests: string[] = [];
    tab.on('request', (request) => requests.push(request.url()));
    const unfit = [
      file('large.jpg', Buffer.alloc(8 * MiB + 1)),
      ...['empty', 'b', 'c'].map((name) => file(`${name}.jpg`, Buffer.alloc(0))),
    ];
    await choose(tab, file('notes.txt', Buffer.from('no photo'), 'text/plain'), ...unfit, file('fit.jpg', photo));
    await expect
      .poll(() => status(tab))
      .toMatch(
        /^1 file added\. notes\.txt: This is not a supported photo or video\. large\.jpg: .* empty\.jpg: This file is empty\. And 2 more files\.$/,
      );
    expect(await description(tab, 'empty.jpg')).toBe('This file is empty.');
    const fault = (name: string) => row(tab, name).locator('.state').textContent();
    expect(await fault('notes.txt')).toMatch(/^This is not a supported photo or video\. Use JPG, .* or WMV\.$/);
    expect(await fault('large.jpg')).toBe('This file is too large: 8,388,609 bytes. The limit is 8,388,608 bytes.');
    expect(await fault('empty.jpg')).toBe('This file is empty.');
    expect(await axeViolations(tab)).toEqual([]);
    await submit(tab);
    await expect.poll(() => published(tab).count()).toBe(1);
    expect(requests.filter((url) => url.endsWith('/2/upload.json'))).toHaveLength(1);
  });

  test('the extension decides whether a file is sent; without a known one, the type does if it is known', async () => {
    await using watched = await opened();
    const { tab } = watched;
    const unfit = { 'a.psd': 'image/vnd.adobe.photoshop', 'a.xcf': 'image/x-xcf', 'a.svg': 'image/svg+xml' };
    const fit = {
      'a.mkv': 'text/plain',
      'A.JFIF': 'text/plain',
      image: 'image/avif',
      blob: 'video/webm;codecs=vp8',
      'a.1': 'application/octet-stream',
    };
    await choose(tab, ...Object.entries({ ...unfit, ...fit }).map(([name, type]) => file(name, photo, type)));
    expect(await tab.locator('#files .refused .name').allTextContents()).toEqual(Object.keys(unfit));
  });

  test('removing a file moves the focus to the next file, or back to the file input', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await choose(tab, file('a.jpg', photo), file('b.jpg', photo));
    await tab.getByRole('button', { name: 'Remove a.jpg' }).press('Enter');
    expect(await focused(tab)).toBe('Remove b.jpg');
    await tab.keyboard.press('Enter');
    expect(await tab.evaluate('document.activeElement.id')).toBe('media');
    await submit(tab);
    expect(await tab.getByRole('alert').filter({ hasText: /./ }).textContent()).toBe('Choose a photo or video first.');
  });

  test('when a focused file is published, the focus moves to its link; at the end it stays where the person is', async () => {
    await using watched = await opened();
    const { tab } = watched;
    const held: Route[] = [];
    await tab.route('**/2/upload.json', (route) => void held.push(route));
    await choose(tab, file('a.jpg', photo), file('b.jpg', photo));
    await submit(tab);
    await expect.poll(() => held.length).toBe(2);
    const send = (name: string) =>
      held.find((route) => route.request().postDataBuffer()?.includes(`"${name}"`))?.continue();
    await tab.getByRole('button', { name: 'Cancel a.jpg' }).focus();
    await send('a.jpg');
    await expect.poll(() => focused(tab)).toBe('a.jpg');
    await tab.getByRole('link', { name: 'My uploads' }).first().focus();
    await send('b.jpg');
    await expect.poll(() => status(tab)).toBe('2 files published.');
    expect(await focused(tab)).toBe('My uploads');
  });

  test('the browser asks before files are lost that wait, and not after they are published or for unfit ones', async () => {
    await using watched = await opened();
    const { tab, problems } = watched;
    const asks = () => tab.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))");
    await choose(tab, file('empty.jpg', Buffer.alloc(0)));
    expect(await asks()).toBe(false);
    await choose(tab, file('a.jpg', photo));
    expect(await asks()).toBe(true);
    await tab.getByRole('button', { name: 'Sign out' }).click();
    expect(problems).toEqual(['dialog: Some files are not published. Discard them and sign out?']);
    await submit(tab);
    await expect.poll(() => published(tab).count()).toBe(1);
    expect(await asks()).toBe(false);
  });

  test('a caption whose encoded form is too long is not sent, and the reason is shown', async () => {
    await using watched = await opened();
    const { tab, problems } = watched;
    await choose(tab, file('a.jpg', photo));
    const caption = tab.getByLabel('Caption');
    const fault = () => caption.evaluate((field: { validationMessage: string }) => field.validationMessage);
    // A line break and an umlaut take two bytes each.
    const longest = `${'ü'.repeat(32_766)}\n\n`;
    await caption.fill(`${longest}a`);
    await submit(tab);
    expect(await fault()).toBe('This caption is too long: 65,537 bytes; the limit is 65,536.');
    expect(await tab.evaluate('document.activeElement.name')).toBe('message');
    await caption.fill(longest);
    expect(await fault()).toBe('');
    await submit(tab);
    await expect.poll(() => published(tab).count()).toBe(1);
    expect(problems).toEqual([]);
  });

  test('a file that changed after selection must be selected again', async () => {
    await using watched = await opened();
    const { tab } = watched;
    const path = join(stack.folder, 'changing.jpg');
    await writeFile(path, photo);
    const input = tab.getByLabel('Photos and videos', { exact: true });
    await input.setInputFiles(path);
    await writeFile(path, Buffer.concat([photo, photo]));
    await submit(tab);
    const changed = row(tab, 'changing.jpg').getByText(
      'The file cannot be read: it is a folder, or was changed or moved.',
    );
    await changed.waitFor();

    await tab.getByRole('button', { name: 'Remove changing.jpg' }).click();
    await input.setInputFiles(path);
    await tab.route('**/2/upload.json', async (route) => {
      await rm(path);
      await route.abort();
    });
    await submit(tab);
    await changed.waitFor();
  });

  test('an unreadable file that may be published is not to be chosen again', async () => {
    await using watched = await opened();
    const messages = await watched.tab.evaluate(`import('/upload/upload-file.js').then(async ({ uploadFile }) => {
      const messages = [];
      const file = { slice: () => ({ arrayBuffer: () => Promise.reject(new Error('changed')) }) };
      const options = { signal: new AbortController().signal, onProgress() {}, onWait() {} };
      for (const mayBePublished of [false, true]) {
        const row = { file, mayBePublished, key: () => '"k"', refuse: (message) => messages.push(message) };
        await uploadFile(row, options);
      }
      return messages;
    })`);
    const fault = 'The file cannot be read: it is a folder, or was changed or moved.';
    expect(messages).toEqual([`${fault} Remove it and choose it again.`, fault]);
  });

  test('previews are made in view only, small, and free their memory', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await recordRevoked(tab);
    const wide = await samplePhoto('jpg', { width: 1200, height: 900 });
    const rest = Array.from({ length: 30 }, (_, i) => file(`${i}.jpg`, photo));
    await choose(tab, file('wide.jpg', wide), ...rest);
    const preview = (name: string) => tab.locator('#files').getByAltText(`Preview of ${name}`);
    await preview('wide.jpg').waitFor();
    expect(await preview('wide.jpg').evaluate((picture: { naturalWidth: number }) => picture.naturalWidth)).toBe(400);
    expect(await preview('29.jpg').count()).toBe(0);
    await row(tab, '29.jpg').scrollIntoViewIfNeeded();
    await preview('29.jpg').waitFor();
    const url = await preview('wide.jpg').getAttribute('src');
    await tab.getByRole('button', { name: 'Remove wide.jpg' }).click();
    expect(await revoked(tab)).toEqual([url]);
  });

  test('a published video shows a picture of the site, and frees the player', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await recordRevoked(tab);
    await choose(tab, file('clip.webm', await sampleVideo('webm', { width: 64, height: 48 }), 'video/webm'));
    const player = tab.getByLabel('Preview of clip.webm');
    const url = await player.getAttribute('src');
    await tab.route('**/small.jpg', (route) => route.fulfill({ contentType: 'image/jpeg', body: photo }));
    await submit(tab);
    await published(tab).locator('img[src$="/small.jpg"]').waitFor();
    expect(await player.count()).toBe(0);
    expect(await revoked(tab)).toEqual([url]);
  });

  test('a cancelled upload publishes nothing, and its file can be sent again', async () => {
    await using watched = await opened();
    const { tab, problems } = watched;
    const records = await stack.stored('records');
    await choose(tab, file('slow.jpg', big(6 * MiB)), file('other.jpg', big(6 * MiB)), file('third.jpg', photo));
    const endSlowness = await slowDown(tab);
    await submit(tab);
    const position = () => tab.locator('#progress').evaluate((bar: { position: number }) => bar.position);
    await expect.poll(position).toBeGreaterThan(0);
    expect(await row(tab, 'third.jpg').locator('.state').textContent()).toBe('Queued.');
    expect(await axeViolations(tab)).toEqual([]);
    for (const name of ['third.jpg', 'slow.jpg']) {
      await tab.getByRole('button', { name: `Cancel ${name}` }).press('Enter');
      await expect.poll(() => row(tab, name).locator('.state').textContent()).toBe('Cancelled.');
    }
    await tab.getByRole('button', { name: 'Remove slow.jpg' }).click();
    await tab.getByRole('button', { name: 'Cancel all' }).press('Enter');
    await expect.poll(() => status(tab)).toBe('2 files not published.');
    expect(await stack.stored('records')).toEqual(records);
    await tab.getByRole('button', { name: 'Remove other.jpg' }).click();
    await endSlowness();
    await submit(tab);
    await expect.poll(() => published(tab).count()).toBe(1);
    expect(problems).toEqual([]);
  });

  test('during an upload, "Upload" reports it, and "Sign out" cancels it after a confirmation', async () => {
    await using watched = await opened();
    const { tab, problems } = watched;
    const records = await stack.stored('records');
    await tab.route('**/2/upload.json', () => {});
    await choose(tab, file('a.jpg', photo));
    await submit(tab);
    await row(tab, 'a.jpg').getByRole('button', { name: 'Cancel' }).waitFor();
    await submit(tab);
    await expect.poll(() => status(tab)).toBe('These files are already being uploaded.');

    const signOut = tab.getByRole('button', { name: 'Sign out' });
    await signOut.click();
    expect(problems).toEqual([
      'dialog: Files are still being uploaded. Those already sent may be published all the same. Cancel the others and sign out?',
    ]);
    expect(await row(tab, 'a.jpg').getByRole('button', { name: 'Cancel' }).isVisible()).toBe(true);
    expect(await tab.evaluate('sessionStorage.length')).toBe(1);
    await tab.evaluate('window.confirm = () => true');
    await signOut.click();
    await tab.getByRole('button', { name: 'Sign in with Sandbox' }).waitFor();
    expect(problems).toHaveLength(1);
    expect(await stack.stored('records')).toEqual(records);
  });

  test('after a lost connection, a file goes in pieces, and a reload of the page continues it', async () => {
    await using proxy = await startCountingProxy(stack.gateway, ({ path }) =>
      path === '/2/upload.json' ? 'cut' : 'passes',
    );
    await using watched = await openedThrough(proxy);
    const { tab } = watched;
    const records = (await stack.stored('records')).length;
    const path = join(stack.folder, 'large.jpg');
    await writeFile(path, big(6 * MiB));
    const chooseAgain = async () => {
      await tab.getByLabel('Photos and videos', { exact: true }).setInputFiles(path);
      await row(tab, 'large.jpg').getByLabel('Caption').fill('Häuser');
      await submit(tab);
    };
    await stopClock(tab);
    const endSlowness = await slowDown(tab);
    await chooseAgain();
    await waiting(tab, 'large.jpg').waitFor();
    await tab.clock.runFor(1000);
    await row(tab, 'large.jpg')
      .getByText(/^[2-9] %|^\d\d %/)
      .waitFor();
    // The page asks before it is left.
    tab.removeAllListeners('dialog').once('dialog', (dialog) => dialog.accept());
    await tab.reload();
    await endSlowness();
    await uploadThrough(tab, proxy);
    const offset = tab
      .waitForResponse((response) => response.request().method() === 'HEAD' && response.ok())
      .then((response) => Number(response.headers()['upload-offset']));
    await chooseAgain();
    await publishWithWaits(tab, 'large.jpg');
    // Bytes that the gateway had not read when the connection closed are lost.
    expect(await offset).toBeGreaterThan(0);
    expect(proxy.seen.filter(({ method, path }) => method === 'POST' && path === '/files/')).toHaveLength(1);
    expect((await stack.stored('records')).length).toBe(records + 1);
    // The name of its file and its caption are kept for a reload only.
    expect(await tab.evaluate('localStorage.length')).toBe(0);
  });

  test.each(['as nginx', 'as HAProxy'] as const)(
    'a file of 3 MB passes a proxy that limits bodies to 1 MiB, whose refusals a page cannot read (%s)',
    async (refusal) => {
      await using proxy = await startLimitingProxy(stack.gateway, { bytes: MiB, refusal });
      await using watched = await openedThrough({ endpoint: proxy.origin });
      const { tab } = watched;
      const records = (await stack.stored('records')).length;
      await choose(tab, file('middling.jpg', big(3 * MiB)));
      await submit(tab);
      await expect.poll(() => published(tab).count()).toBe(1);
      expect(proxy.seen).toContain('POST refused');
      expect((await stack.stored('records')).length).toBe(records + 1);
    },
  );

  test('offline, signing out loses no file, and an upload waits and continues when the connection is back', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await choose(tab, file('a.jpg', photo));
    await tab.context().setOffline(true);
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByText('You are offline. Sign out when the connection is back.').waitFor();
    await submit(tab);
    await row(tab, 'a.jpg').getByText('Offline. The upload continues').waitFor();
    await tab.context().setOffline(false);
    await expect.poll(() => published(tab).count()).toBe(1);
  });

  test('an upload that stalls is sent again', async () => {
    let isHolding = true;
    await using proxy = await startCountingProxy(stack.gateway, ({ method }) =>
      method === 'POST' && isHolding ? 'held' : 'passes',
    );
    await using watched = await openedThrough(proxy);
    const { tab } = watched;
    await stopClock(tab);
    await choose(tab, file('a.jpg', photo));
    await submit(tab);
    await row(tab, 'a.jpg').getByText('Sent. Processing.').waitFor();
    isHolding = false;
    await tab.clock.runFor(121_000);
    await row(tab, 'a.jpg').getByText('The connection was lost.').waitFor();
    await tab.clock.runFor(2000);
    await expect.poll(() => published(tab).count()).toBe(1);
  });

  async function cancelAfterSending(parts: AsyncDisposableStack): Promise<WatchedTab['tab']> {
    const fates = ['held' as const];
    const proxy = parts.use(
      await startCountingProxy(stack.gateway, ({ method }) => (method === 'POST' && fates.pop()) || 'passes'),
    );
    const { tab } = parts.use(await openedThrough(proxy));
    await choose(tab, file('sent.jpg', photo));
    await submit(tab);
    await row(tab, 'sent.jpg').getByText('Sent. Processing.').waitFor();
    await tab.getByRole('button', { name: 'Cancel sent.jpg' }).click();
    return tab;
  }

  test('an upload cancelled after sending is reported as possibly published, with a link to "My uploads"', async () => {
    await using parts = new AsyncDisposableStack();
    const tab = await cancelAfterSending(parts);
    const doubt = /^Cancelled\. The whole file was sent, so it may be published: look in My uploads\./;
    await row(tab, 'sent.jpg').getByText(doubt).waitFor();
    await expect.poll(() => status(tab)).toBe('1 file possibly published.');
    expect(await tab.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))")).toBe(true);
    const link = row(tab, 'sent.jpg').getByRole('link', { name: 'My uploads' });
    expect(await link.getAttribute('href')).toBe('/mine');
    expect(await axeViolations(tab)).toEqual([]);
  });

  test('after a sign-in as another user, a possibly published file is not sent again', async () => {
    await using parts = new AsyncDisposableStack();
    const tab = await cancelAfterSending(parts);
    await tab.evaluate(`sessionStorage.setItem('echodrop.session',
      sessionStorage.getItem('echodrop.session').replace('sandbox-bearer', 'expired'))`);
    // The page checks a session once a minute.
    await tab.evaluate('performance.now = () => 120_000');
    await submit(tab);
    const link = tab.getByRole('link', { name: 'Sign in again in a new tab' });
    const [other] = await Promise.all([tab.context().waitForEvent('page'), link.click()]);
    await other.getByRole('button', { name: 'Sign in with Sandbox' }).click();
    await other.getByRole('button', { name: 'Allow' }).click();
    await row(tab, 'sent.jpg').getByText('It may be published, by the user who was signed in before.').waitFor();
  });

  test('a possibly published upload keeps its texts, so that a retry adds no second record', async () => {
    let isLosing = true;
    await using proxy = await startCountingProxy(stack.gateway, ({ method }) =>
      method === 'POST' && isLosing ? 'lost' : 'passes',
    );
    await using watched = await openedThrough(proxy);
    const { tab } = watched;
    const records = (await stack.stored('records')).length;
    await choose(tab, file('twice.jpg', photo));
    const caption = row(tab, 'twice.jpg').getByLabel('Caption');
    await caption.fill('As sent');
    await submit(tab);
    await row(tab, 'twice.jpg').getByText('The connection was lost.').waitFor();
    await tab.getByRole('button', { name: 'Cancel twice.jpg' }).click();
    await row(tab, 'twice.jpg')
      .getByText(/^Cancelled\./)
      .waitFor();
    expect(await caption.isEditable()).toBe(false);
    isLosing = false;
    await submit(tab);
    await expect.poll(() => published(tab).count()).toBe(1);
    expect((await stack.stored('records')).length).toBe(records + 1);
  });

  const headers = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' };
  const refusal = (status: number, reason: string, retryAfter: string) => (route: Route) =>
    route.fulfill({
      status,
      headers: { ...headers, 'Retry-After': retryAfter },
      body: JSON.stringify({ errors: [{ code: status, reason, message: 'Not now.' }] }),
    });

  /** Chooses a file for each name and submits them. `respond` gets each upload with the name of its file. */
  async function uploadNamed(tab: Page, names: string[], respond: (name: string, route: Route) => unknown) {
    await tab.route('**/2/upload.json', (route) => {
      const body = route.request().postDataBuffer();
      return respond(names.find((name) => body?.includes(`"${name}"`)) ?? '', route);
    });
    await choose(tab, ...names.map((name) => file(name, photo)));
    await submit(tab);
  }

  // packages/client has the other refusals that are temporary.
  test('after a temporary refusal, also a 401, waits for Retry-After and retries with the same key', async () => {
    await using watched = await opened();
    const { tab } = watched;
    const refusals = [refusal(503, 'overloaded', '2'), refusal(401, 'provider_unavailable', '2')];
    const keys: Record<string, (string | undefined)[]> = { 'a.jpg': [], 'b.jpg': [] };
    await stopClock(tab);
    await uploadNamed(tab, Object.keys(keys), (name, route) => {
      keys[name]?.push(route.request().headers()['idempotency-key']);
      return (keys[name]?.length === 1 ? refusals.pop() : undefined)?.(route) ?? route.continue();
    });
    for (const name of Object.keys(keys))
      await row(tab, name).getByText('Not now. Trying again in 2 seconds.').waitFor();
    await tab.clock.runFor(aFrame);
    expect(await status(tab)).toMatch(/^[ab]\.jpg: Not now\. Trying again in 2 seconds\.$/);
    await tab.clock.runFor(2000);
    await expect.poll(() => published(tab).count()).toBe(2);
    for (const [first, ...again] of Object.values(keys)) {
      expect(first).toMatch(/^"[0-9a-f]{32}"$/);
      expect(again).toEqual([first]);
    }
    expect(keys['a.jpg']).not.toEqual(keys['b.jpg']);
  });

  test('does not wait for more than two minutes, and shows when to retry', async () => {
    await using watched = await opened();
    const { tab } = watched;
    const waits = {
      'a.jpg': ['121', '3 minutes'],
      'b.jpg': ['86400', '24 hours'],
      'c.jpg': ['2592000', '720 hours'],
      'd.jpg': [new Date(Date.now() + 24.5 * 3600 * 1000).toUTCString(), '25 hours'],
    };
    await uploadNamed(tab, Object.keys(waits), (name, route) =>
      refusal(429, 'too_many_requests', waits[name as keyof typeof waits][0] as string)(route),
    );
    for (const [name, [, time]] of Object.entries(waits))
      await row(tab, name).getByText(`Not now. Try again in ${time}.`).waitFor();
  });

  test('a wait can be cancelled; a second press of "Cancel" does not remove the file', async () => {
    await using watched = await opened();
    const { tab } = watched;
    await tab.route('**/2/upload.json', refusal(503, 'overloaded', '120'));
    await choose(tab, file('a.jpg', photo), file('b.jpg', photo));
    await submit(tab);
    await row(tab, 'a.jpg').getByText('Trying again in 120 seconds.').waitFor();
    await tab.getByRole('button', { name: 'Cancel a.jpg' }).press('Enter');
    await row(tab, 'a.jpg').getByText('Cancelled.').waitFor();
    await tab.keyboard.press('Enter');
    expect(await row(tab, 'a.jpg').count()).toBe(1);
  });

  test('a refused file stays in the list, even if Enter is pressed, with its message in view, and the others are published', async () => {
    await using watched = await opened({ viewport: { width: 360, height: 300 } });
    const { tab } = watched;
    await choose(tab, file('broken.jpg', Buffer.from('no photo')), file('a.jpg', photo));
    await submit(tab);
    await expect
      .poll(() => status(tab))
      .toMatch(/^1 file published\. 1 file not published\. broken\.jpg: This is not a supported photo or video\./);
    const fault = row(tab, 'broken.jpg').locator('.state');
    expect(await fault.textContent()).toMatch(/^This is not a supported photo or video/);
    const box = await fault.boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(300);
    expect(await axeViolations(tab)).toEqual([]);
    await tab.keyboard.press('Enter');
    expect(await row(tab, 'broken.jpg').count()).toBe(1);
  });

  test('an expired sign-in is noticed before a file is sent; signing in again in a new tab keeps files and texts', async () => {
    await using watched = await opened({}, 'expired');
    const { tab } = watched;
    const sent: string[] = [];
    tab.on('request', (request) => sent.push(request.url()));
    await choose(tab, file('a.jpg', photo), file('b.jpg', photo));
    await row(tab, 'a.jpg').getByLabel('Caption').fill('At the sea');
    await submit(tab);
    const alert = tab.getByRole('alert').filter({ hasText: 'Your sign-in has expired.' });
    await alert.waitFor();
    expect(sent.filter((url) => url.endsWith('/2/upload.json'))).toEqual([]);
    await expect.poll(() => focused(tab)).toBe('Sign in again in a new tab');
    expect(await axeViolations(tab)).toEqual([]);

    const [other] = await Promise.all([tab.context().waitForEvent('page'), tab.keyboard.press('Enter')]);
    await other.getByText('Sign in here for the tab with your files.').waitFor();
    expect(await axeViolations(other)).toEqual([]);
    await other.getByRole('button', { name: 'Sign in with Sandbox' }).click();
    await other.getByRole('button', { name: 'Allow' }).click();
    await other.getByText('The tab with your files is signed in.').waitFor();
    expect(await axeViolations(other)).toEqual([]);
    expect(await other.evaluate('sessionStorage.length')).toBe(0);

    await expect.poll(() => status(tab)).toMatch(/^Signed in as .+\. Press Upload to continue\.$/);
    expect(await alert.count()).toBe(0);
    await expect.poll(() => focused(tab)).toBe('Upload');
    await tab.keyboard.press('Enter');
    await expect.poll(() => published(tab).count()).toBe(2);
    expect(await published(tab).getByRole('link', { name: 'At the sea' }).count()).toBe(1);
  });

  test('a sign-in in a tab that was not opened for it signs in no other tab', async () => {
    await using watched = await opened({}, 'expired');
    const { tab } = watched;
    await choose(tab, file('a.jpg', photo));
    await submit(tab);
    await tab.getByRole('link', { name: 'Sign in again in a new tab' }).waitFor();
    const other = await tab.context().newPage();
    await other.goto(`${stack.site}/upload#sign-in-for=another`);
    await other.getByRole('button', { name: 'Sign in with Sandbox' }).click();
    await other.getByRole('button', { name: 'Allow' }).click();
    await other.getByText('Signed in. Go back to the tab with your files.').waitFor();
    await submit(tab);
    await tab.getByRole('link', { name: 'Sign in again in a new tab' }).waitFor();
    expect(await tab.evaluate('sessionStorage.getItem("echodrop.session")')).toContain('"expired"');
  });

  test('has no field for credentials, and fits a screen 320 px wide', async () => {
    await using watched = await opened({ viewport: { width: 320, height: 568 } });
    const { tab } = watched;
    await choose(tab, file(`${'long'.repeat(30)}.jpg`, photo), file('b.jpg', photo));
    expect(await tab.locator('input:visible:not([type=file])').count()).toBe(0);
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await submit(tab);
    await expect.poll(() => published(tab).count()).toBe(2);
    await expect.poll(() => tab.getByRole('button', { name: 'Copy BBCode' }).count()).toBe(2);
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });
});
