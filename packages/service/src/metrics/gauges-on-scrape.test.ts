import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

type Ask = () => Promise<{ of: string; values: { echodrop_things: number } }[]>;

function metricsThatAsk(ask: Ask): () => Promise<string[]> {
  const metrics = new Metrics('test');
  metrics.gaugesOnScrape({ echodrop_things: 'Things.' }, 'kind', ask);
  return async () => (await metrics.exposition()).text.split('\n').filter((line) => line.startsWith('echodrop_things'));
}

test('what is asked for is told, and all who look within a second share one question', async () => {
  let asked = 0;
  const told = metricsThatAsk(async () => {
    asked += 1;
    return [{ of: 'large', values: { echodrop_things: asked } }];
  });
  const looks = await Promise.all([told(), told(), told()]);
  expect([...looks, await told()]).toEqual(Array(4).fill(['echodrop_things{kind="large",service="test"} 1']));
});

test('what is not there any more, or cannot be had, is not told', async () => {
  const answers = [
    async () => ['large', 'small'],
    async () => ['small'],
    async () => {
      throw new Error('down');
    },
  ];
  const told = metricsThatAsk(async () => {
    const kinds = await answers.shift()?.();
    return (kinds ?? []).map((of) => ({ of, values: { echodrop_things: 1 } }));
  });
  for (const series of [2, 1, 0]) {
    await waitUntil(`${series} series`, 3000, async () => (await told()).length === series);
  }
});

test('one that does not answer holds the metrics up for two seconds', async () => {
  const begun = performance.now();
  expect(await metricsThatAsk(() => new Promise(() => {}))()).toEqual([]);
  expect(performance.now() - begun).toBeGreaterThan(1900);
  expect(performance.now() - begun).toBeLessThan(4000);
});
