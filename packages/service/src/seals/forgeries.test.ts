import { expect, test } from 'vitest';
import { createLog } from '../log.ts';
import { Metrics } from '../metrics/metrics.ts';
import { Forgeries } from './forgeries.ts';

test('counts forged entries by kind, starting at 0', async () => {
  const metrics = new Metrics('test');
  const forgeries = new Forgeries(createLog('test', 'silent'), metrics);
  forgeries.report('job', { queue: 'probe-photos', jobId: 'a' });
  forgeries.report('job', { queue: 'probe-photos', jobId: 'b' });
  const { text } = await metrics.exposition();
  const counts = text.matchAll(/^echodrop_forged_entries_total\{.*kind="(\w+)".*\} (\d+)$/gm);
  expect(Object.fromEntries(counts.map(([, kind, count]) => [kind, Number(count)]))).toEqual({
    job: 2,
    reply: 0,
    verdict: 0,
    claim: 0,
  });
});
