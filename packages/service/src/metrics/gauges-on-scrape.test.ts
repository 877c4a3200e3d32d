import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

type Read = () => Promise<{ label: string; values: { echodrop_things: number } }[]>;

function scrapeWith(read: Read): () => Promise<string[]> {
  const metrics = new Metrics('test');
  metrics.gaugesOnScrape({ echodrop_things: 'Things.' }, 'kind', read);
  return async () => (await metrics.exposition()).text.split('\n').filter((line) => line.startsWith('echodrop_things'));
}

test('scrapes within a second share one read', async () => {
  let reads = 0;
  const scrape = scrapeWith(async () => {
    reads += 1;
    return [{ label: 'large', values: { echodrop_things: reads } }];
  });
  const scrapes = await Promise.all([scrape(), scrape(), scrape()]);
  expect([...scrapes, await scrape()]).toEqual(Array(4).fill(['echodrop_things{kind="large",service="test"} 1']));
});

test('a removed or unreadable value has no series', async () => {
  const results = [
    async () => ['large', 'small'],
    async () => ['small'],
    async () => {
      throw new Error('down');
    },
  ];
  const scrape = scrapeWith(async () => {
    const kinds = await results.shift()?.();
    return (kinds ?? []).map((label) => ({ label, values: { echodrop_things: 1 } }));
  });
  for (const series of [2, 1, 0]) {
    await waitUntil(`${series} series`, async () => (await scrape()).length === series);
  }
});

test('a hanging read delays a scrape by two seconds', async () => {
  const begun = performance.now();
  expect(await scrapeWith(() => new Promise(() => {}))()).toEqual([]);
  expect(performance.now() - begun).toBeGreaterThan(1900);
  expect(performance.now() - begun).toBeLessThan(4000);
});
