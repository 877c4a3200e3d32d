import { axeViolations } from '@echodrop/testkit/browser/accessibility';
import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { signInSettings } from '@echodrop/testkit/browser/signed-in-tab';
import { openTab, type WatchedTab } from '@echodrop/testkit/browser/watched-tab';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

const caption = `First snow on the far ridge, see https://hills.example/${'long/'.repeat(40)}\n${'w'.repeat(300)}`;
const photoSize = { width: 1600, height: 1000 };
const videoSeconds = 12;

/** The width of a picture by `srcset`; 0 until it is loaded. */
const naturalWidth = (image: { complete: boolean; naturalWidth: number }) => (image.complete ? image.naturalWidth : 0);

/** The part of HTMLVideoElement that these tests use. */
interface Video {
  currentTime: number;
  muted: boolean;
  readonly readyState: number;
  play(): Promise<void>;
  pause(): void;
  getVideoPlaybackQuality(): { totalVideoFrames: number };
}

const shiftsSeen = `new Promise((resolve) => {
  const shifts = [];
  new PerformanceObserver((list) => shifts.push(...list.getEntries().map(({ value }) => value)))
    .observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(shifts))));
})`;

await describeWithBrowser('pages in a browser', (browser) => {
  let stack: Stack;
  /** The path of each page. */
  let paths: Record<string, string>;

  beforeAll(async () => {
    stack = await startStack({
      settings: (at) => ({ ...signInSettings(at), ABUSE_CONTACT: 'mailto:abuse@hills.example' }),
    });
    const [photo, video] = await Promise.all([
      uploaded(await samplePhoto('jpg', photoSize), 'large.webp'),
      uploaded(await sampleVideo('mp4', { width: 320, height: 180, seconds: videoSeconds }), 'video.mp4'),
    ]);
    const [, user = ''] = /href="(\/by\/[^"]+)"/.exec(await (await fetch(`${stack.site}/${photo}`)).text()) ?? [];
    paths = {
      photo: `/${photo}`,
      video: `/${video}`,
      player: `/${video}/player`,
      user,
      missing: '/AAAAAAAAAA',
      home: '/',
      documentation: '/documentation',
      upload: '/upload',
      mine: '/mine',
      apps: '/mine/apps',
    };
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  async function uploaded(media: Buffer, rendition: string): Promise<string> {
    const { text } = await upload(stack, { media, message: caption });
    const { id } = JSON.parse(text);
    const isThere = async (name: string) => (await fetch(`${stack.site}/${id}/${name}`)).ok;
    await waitUntil(`${rendition} of ${id}`, async () => (await isThere(rendition)) && isThere('large.webp'));
    return id;
  }

  function open(tab: Page, page: string) {
    return tab.goto(`${stack.site}${paths[page]}`);
  }

  test('the layout does not shift when the photo loads', async () => {
    await using opened = await openTab(browser(), { viewport: { width: 360, height: 740 } });
    const { tab } = opened;
    const held = Promise.withResolvers<void>();
    await tab.route(/\/(medium|large)\.\w+$/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await tab.goto(`${stack.site}${paths['photo']}`, { waitUntil: 'commit' });
    const photo = tab.locator('main img');
    const places = async () => [await photo.boundingBox(), await tab.locator('.caption').boundingBox()];
    // The first paint waits for the style sheet.
    const paints = () => tab.evaluate('performance.getEntriesByType("paint").length');
    await expect.poll(paints).toBeGreaterThan(0);
    await tab.locator('footer').waitFor();
    const before = await places();
    expect(before[0]?.height).toBeGreaterThan(100);
    held.resolve();
    await expect.poll(() => photo.evaluate(naturalWidth)).toBeGreaterThan(0);
    expect(await places()).toEqual(before);
    expect(await tab.evaluate(shiftsSeen)).toEqual([]);
  });

  test.each([
    [360, 'medium.webp'],
    [641, 'large.webp'],
    [1280, 'large.webp'],
  ])('a browser %i px wide shows the photo without errors, and requests only %s', async (width, name) => {
    await using opened = await openTab(browser(), { viewport: { width, height: 1000 } });
    const { tab, problems } = opened;
    const requests: string[] = [];
    tab.on('request', (request) => {
      if (request.resourceType() === 'image') requests.push(new URL(request.url()).pathname);
    });
    await open(tab, 'photo');
    const photo = tab.locator('main img');
    await expect.poll(() => photo.evaluate(naturalWidth)).toBeGreaterThan(0);
    expect(await photo.getAttribute('alt')).toContain('First snow on the far ridge');
    expect(problems).toEqual([]);
    expect(requests.filter((path) => path.startsWith(`${paths['photo']}/`))).toEqual([`${paths['photo']}/${name}`]);
  });

  test.each([
    [640, 360],
    [320, 480],
    [500, 200],
  ])('in a frame of %i x %i, the player shows the whole video and its controls', async (width, height) => {
    await using opened = await openTab(browser(), { viewport: { width, height } });
    const { tab } = opened;
    await open(tab, 'player');
    expect(await tab.locator('video').boundingBox()).toEqual({ x: 0, y: 0, width, height });
  });

  test.each(['video', 'player'])('the %s page plays and seeks, and requests the video only in ranges', async (page) => {
    await using opened = await openTab(browser());
    const { tab, problems } = opened;
    const requests: Promise<[range: string | null, status: number | undefined]>[] = [];
    tab.on('request', (request) => {
      if (!request.url().endsWith('/video.mp4')) return;
      const status = request.response().then((response) => response?.status());
      requests.push(Promise.all([request.headerValue('range'), status]));
    });
    await open(tab, page);
    const video = tab.locator('video');
    const time = () => video.evaluate((video: Video) => video.currentTime);
    await video.evaluate((video: Video) => {
      video.muted = true;
      return video.play();
    });
    await expect.poll(time).toBeGreaterThan(0.3);

    await video.evaluate((video: Video, to) => {
      video.currentTime = to;
    }, videoSeconds - 5);
    await expect.poll(time).toBeGreaterThan(videoSeconds - 4.7);
    const frames = () => video.evaluate((video: Video) => video.getVideoPlaybackQuality().totalVideoFrames);
    await expect.poll(frames).toBeGreaterThan(3);
    await video.evaluate((video: Video) => video.pause());

    expect(requests.length).toBeGreaterThan(0);
    for (const [range, status] of await Promise.all(requests))
      expect([range, status]).toEqual([expect.any(String), 206]);
    expect(problems).toEqual([]);
  });

  let everyPage: WatchedTab | undefined;
  afterAll(() => everyPage?.[Symbol.asyncDispose]());
  const names = ['photo', 'video', 'player', 'user', 'missing', 'home', 'documentation', 'upload', 'mine', 'apps'];

  test.each(names)('the %s page passes axe in light and dark mode, and fits a screen 320 px wide', async (page) => {
    everyPage ??= await openTab(browser());
    const { tab } = everyPage;
    await tab.setViewportSize({ width: 1280, height: 720 });
    await open(tab, page);
    expect(await axeViolations(tab)).toEqual([]);
    await tab.setViewportSize({ width: 320, height: 568 });
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  test('pages work without JavaScript', async () => {
    await using opened = await openTab(browser(), { javaScriptEnabled: false });
    const { tab } = opened;
    await open(tab, 'photo');
    await expect.poll(() => tab.locator('main img').evaluate(naturalWidth)).toBeGreaterThan(0);
    await tab.locator('[rel=author]').click();
    await tab.waitForURL('**/by/*');
    await expect.poll(() => tab.locator('.grid img').first().evaluate(naturalWidth)).toBeGreaterThan(0);
    expect(await tab.locator('.grid li').count()).toBe(2);
    await open(tab, 'video');
    await expect.poll(() => tab.locator('video').evaluate((video: Video) => video.readyState)).toBeGreaterThan(0);
    for (const page of ['upload', 'mine', 'apps']) {
      await open(tab, page);
      const refusals = await tab.locator('.refusal').filter({ visible: true, hasText: /./ }).allTextContents();
      expect(refusals).toEqual([expect.stringContaining('requires JavaScript')]);
      expect(await tab.locator('button:visible, summary:visible').count()).toBe(0);
    }
  });

  test('each share field has a copy button, which works on plain http too; without JavaScript there are no buttons', async () => {
    await using opened = await openTab(browser(), { permissions: ['clipboard-read', 'clipboard-write'] });
    const { tab, problems } = opened;
    await open(tab, 'photo');
    await tab.getByText('Direct link and embed codes').click();
    // Buttons say for two seconds that they have copied: here always. Axe needs the other timers.
    await tab.evaluate(`{
      const { setTimeout } = window;
      window.setTimeout = (run, ms, ...more) => (ms === 2000 ? 0 : setTimeout(run, ms, ...more));
    }`);
    const names = ['Link', 'Direct link', 'Markdown', 'HTML', 'BBCode'];
    const copy = async (name: string) => {
      await tab.getByRole('button', { name: new RegExp(`^Cop(y|ied) ${name}$`) }).press('Enter');
      await expect.poll(() => tab.locator('main > [role=status]').textContent()).toBe(`Copied ${name}.`);
      expect(await tab.evaluate('navigator.clipboard.readText()')).toBe(
        await tab.getByLabel(name, { exact: true }).inputValue(),
      );
    };
    for (const name of names) await copy(name);
    await tab.getByRole('button', { name: 'Copied BBCode' }).waitFor();
    expect(await axeViolations(tab)).toEqual([]);
    await tab.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('as on plain http'))`);
    await copy('Link');
    expect(await tab.evaluate('document.activeElement.textContent')).toBe('Copied Link');
    expect(problems).toEqual([]);

    await using plain = await openTab(browser(), { javaScriptEnabled: false });
    await open(plain.tab, 'photo');
    expect(await plain.tab.getByLabel('Link', { exact: true }).inputValue()).toBe(`${stack.site}${paths['photo']}`);
    expect(await plain.tab.getByRole('button').count()).toBe(0);
  });

  test.each([
    ['photo', "script-src 'self'"],
    ['player', undefined],
    ['user', undefined],
    ['missing', undefined],
    ['home', undefined],
  ])('the policy of the %s page allows the scripts %s, and no requests by scripts', async (page, scripts) => {
    const policy =
      (await fetch(`${stack.site}${paths[page]}`)).headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy.find((directive) => directive.startsWith('script-src'))).toBe(scripts);
    expect(policy.filter((directive) => directive.startsWith('connect-src'))).toEqual([]);
    expect(policy).toContain("default-src 'none'");
  });

  test('a page reloads while renditions are pending, without adding history entries', async () => {
    await stack.services['rendition-worker'].kill();
    const { text } = await upload(stack, { media: await samplePhoto('jpg', { width: 64, height: 48 }) });
    {
      // Reloads would interrupt axe.
      await using still = await openTab(browser());
      await still.tab.route(`**${paths['user']}*`, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), refresh: '' } });
      });
      // The site remembers the list without this upload for some seconds.
      await expect
        .poll(async () => {
          await open(still.tab, 'user');
          return still.tab.locator('.unshown small').allTextContents();
        })
        .toEqual(['Processing']);
      expect(await axeViolations(still.tab)).toEqual([]);
    }
    await using opened = await openTab(browser());
    const { tab, problems } = opened;
    let loads = 0;
    tab.on('response', (response) => {
      if (response.request().isNavigationRequest()) loads += 1;
    });
    await open(tab, 'user');
    // A script in the page would not survive a reload.
    const session = await tab.context().newCDPSession(tab);
    const entries = async () => (await session.send('Page.getNavigationHistory')).entries.length;
    const before = await entries();
    await expect.poll(() => loads).toBeGreaterThan(2);

    await stack.services['rendition-worker'].restart();
    const picture = tab.locator(`a[href="/${JSON.parse(text).id}"] img`);
    await picture.waitFor();
    expect([tab.url(), await entries()]).toEqual([`${stack.site}${paths['user']}`, before]);
    expect(problems).toEqual([]);
  });
});
