import { patienceMs } from '@echodrop/testkit/patience';
import { expect, test, vi } from 'vitest';
import { Metrics } from './metrics.ts';

type Read = () => Promise<{ label: string; values: { echodrop_things: number } }[]>;

function scrapeWith(read: Read): () => Promise<string[]> {
  const metrics = new Metrics('test');
  metrics.gaugesOnScrape({ echodrop_things: 'Things.' }, 'kind', read);
  return async () => (await metrics.exposition()).text.split('\n').filter((line) => line.startsWith('echodrop_things'));
}

/** Stops the clock of `performance.now`, and returns a function that advances it. */
function stopClock(): (ms: number) => void {
  let time = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => time);
  return (ms) => {
    time += ms;
  };
}

test('scrapes within a second share one read', async () => {
  const advance = stopClock();
  let reads = 0;
  const scrape = scrapeWith(async () => {
    reads += 1;
    return [{ label: 'large', values: { echodrop_things: reads } }];
  });
  const scrapes = await Promise.all([scrape(), scrape(), scrape()]);
  advance(999);
  expect([...scrapes, await scrape()]).toEqual(Array(4).fill(['echodrop_things{kind="large",service="test"} 1']));
});

test('a removed or unreadable value has no series', async () => {
  const advance = stopClock();
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
    expect(await scrape()).toHaveLength(series);
    advance(1001);
  }
});

test('a hanging read delays a scrape by two seconds', async () => {
  const begun = performance.now();
  expect(await scrapeWith(() => new Promise(() => {}))()).toEqual([]);
  expect(performance.now() - begun).toBeGreaterThan(1900);
  expect(performance.now() - begun).toBeLessThan(patienceMs / 3);
});
