import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ownerHash } from '@echodrop/archive/owner';
import { findRecord } from '@echodrop/archive/records';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { isTombstone } from '@echodrop/record';
import { findBrowser } from '@echodrop/testkit/browser/find-browser';
import { launchBrowser } from '@echodrop/testkit/browser/launch-browser';
import { signInSettings } from '@echodrop/testkit/browser/signed-in-tab';
import { made } from '@echodrop/testkit/samples/sample-media';
import { startStack } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { Page } from 'playwright-core';
import { publishSample } from '../src/site.fixture.ts';

// Run by hand: node services/site/screenshots/take.ts. Takes the pictures of docs/screenshots, of landscapes that it paints itself.
const target = resolve(import.meta.dirname, '../../../docs/screenshots');
const path = (await findBrowser()) ?? '';
const quality = 76;
const uploads = 31;

// Four seconds into the video, and then until its sign of loading has faded.
const seekVideos = `Promise.all([...document.querySelectorAll('video')].map((video) => new Promise((seeked, failed) => {
  setTimeout(failed, 10_000);
  video.onseeked = seeked;
  video.currentTime = 4;
})))`;
const fadeMs = 1500;

const windows = [
  { name: 'phone', viewport: { width: 360, height: 740 }, deviceScaleFactor: 1.5 },
  { name: 'desk', viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 },
];

await using browser = await launchBrowser(path);
await using stack = await startStack({
  services: ['site', 'rendition-worker'],
  settings: {
    ...signInSettings({ provider: 'https://id.example/' }),
    PUBLIC_SITE_URL: 'https://pictures.example',
    ABUSE_CONTACT: 'mailto:abuse@pictures.example',
  },
});
await using store = new FilesystemObjectStore(join(stack.folder, 'store'));
await mkdir(target, { recursive: true });

const captions = ['', 'First snow on the far ridge', 'The lake before anybody was up', '', 'Blue hour', 'Fog again'];
for (let seed = 7; seed < 7 + uploads; seed += 1) {
  const timestamp = new Date(Date.UTC(2026, 8, seed, 7, 12));
  await publish(await landscape(seed, { width: 600, height: 450 }), {
    text: captions[seed % captions.length] ?? '',
    timestamp,
  });
}
const video = await publish(await pan(await landscape(5, { width: 1920, height: 1200 })), {
  type: 'mp4',
  width: 1280,
  height: 720,
  text: 'Ten seconds of not much happening. That was the idea.',
  timestamp: new Date('2026-11-20T15:48:00Z'),
});
const picture = await landscape(2, { width: 1600, height: 1067 });
const photo = await publish(picture, {
  width: 1600,
  height: 1067,
  text: 'Up at five, and the mountains were already there.\nThe way up: https://hills.example/routes/12',
});
const record = await findRecord(store, photo);
if (!record || isTombstone(record)) throw new Error('the photo has no record');

await shown(`${video}.mp4`);
const session = {
  provider: 'https://id.example/api/v1/accounts/verify_credentials',
  providerName: 'Hills',
  token: 'a token',
  name: 'Mira',
  tab: 'signed-in',
};
const own = {
  media: [
    {
      id: photo,
      type: 'jpg',
      text: 'Up at five, and the mountains were already there.',
      timestamp: '2026-11-21T07:40:00Z',
    },
    { id: video, type: 'mp4', text: 'Ten seconds of not much happening.', timestamp: '2026-11-20T15:48:00Z' },
  ].map((each) => ({ ...each, url: `https://pictures.example/${each.id}` })),
  next: 'older',
};
const pages = { photo, video, user: `by/${ownerHash(record)}`, 404: 'nothing', upload: 'upload', mine: 'mine' };
for (const [name, path] of Object.entries(pages)) await take(name, `${stack.site}/${path}`);

async function take(page: string, address: string): Promise<void> {
  for (const { name, ...window } of windows) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using context = await browser.newContext({ ...window, colorScheme });
      const tab = await context.newPage();
      await tab.addInitScript(
        `window.name = 'signed-in'; sessionStorage.setItem('echodrop.session', '${JSON.stringify(session)}')`,
      );
      await tab.route('**/2/media.json', (route) =>
        route.fulfill({ headers: { 'Access-Control-Allow-Origin': '*' }, json: own }),
      );
      await tab.goto(address, { waitUntil: 'networkidle' });
      if (page === 'upload') await fillIn(tab);
      await tab.evaluate(seekVideos);
      if (page === 'video') await tab.waitForTimeout(fadeMs);
      await tab.screenshot({ path: join(target, `${page}-${name}-${colorScheme}.jpg`), type: 'jpeg', quality });
    }
  }
}

async function fillIn(tab: Page): Promise<void> {
  const files = { 'mountains.jpg': picture, 'lake.jpg': await landscape(9, { width: 900, height: 600 }) };
  await tab
    .getByLabel('Photos and videos', { exact: true })
    .setInputFiles(Object.entries(files).map(([name, buffer]) => ({ name, mimeType: 'image/jpeg', buffer })));
  await tab.getByLabel('Caption').first().fill('Up at five, and the mountains were already there.');
  await tab.getByAltText('Preview of lake.jpg').waitFor();
  await tab.evaluate('Promise.all([...document.images].map((image) => image.decode()))');
  await tab.evaluate('scrollTo(0, 0)');
}

type Details = NonNullable<Parameters<typeof publishSample>[2]>;

async function publish(media: Buffer, details: Details): Promise<string> {
  const usual = { width: 600, height: 450, user: { id: 12345n, screenName: 'mira' } };
  const id = await publishSample(store, media, { ...usual, ...details });
  await shown(`${id}/thumb.jpg`);
  return id;
}

function shown(path: string): Promise<void> {
  return waitUntil(path, async () => (await fetch(`${stack.site}/${path}`)).ok);
}

async function landscape(seed: number, viewport: { width: number; height: number }): Promise<Buffer> {
  await using context = await browser.newContext({ viewport });
  const tab = await context.newPage();
  await tab.goto(`file://${join(import.meta.dirname, 'landscape.html')}#${seed}`);
  return await tab.screenshot({ type: 'jpeg', quality: 92 });
}

/** A video of ten seconds that looks along a picture of 1920 x 1200. */
async function pan(picture: Buffer): Promise<Buffer> {
  const path = join(stack.folder, 'picture.jpg');
  await writeFile(path, picture);
  const still = ['-loop', '1', '-framerate', '12', '-t', '10', '-i', path];
  const coding = ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-f', 'mp4'];
  return made([...still, '-vf', "crop=1280:720:x='t*60':y=300", ...coding]);
}
