import { queueOptionsFor } from '@echodrop/queue/queue.fixture';
import { registerBacklogMetrics } from '@echodrop/queue/queue-clients';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { patienceMs } from '@echodrop/testkit/patience';
import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test, vi } from 'vitest';
import { ProbeClient } from './probe.ts';
import { RenditionClient } from './rendition.ts';

test('each queue reports its backlog, with or without a worker, and nothing while Redis is down', async () => {
  await using redis = await startRedis();
  vi.useFakeTimers({ toFake: ['Date'] });
  await using probes = new ProbeClient(queueOptionsFor(redis.url));
  await using renditions = new RenditionClient(queueOptionsFor(redis.url));
  const metrics = new Metrics('test');
  registerBacklogMetrics(metrics, [probes, renditions]);
  const read = async (name: string) => {
    const { text } = await metrics.exposition();
    const lines = text.matchAll(new RegExp(`^echodrop_queue_${name}\\{queue="(.*)",service="test"\\} (.*)$`, 'gm'));
    return Object.fromEntries([...lines].map(([, queue, value]) => [queue, Number(value)]));
  };
  const enqueue = (digit: string, type: 'mp4' | 'jpg') =>
    renditions.enqueue({ mediaKey: digit.repeat(32), type }).then(() => true);

  await waitUntil('a connection', () => enqueue('1', 'mp4'));
  await enqueue('2', 'mp4');
  vi.setSystemTime(Date.now() + 2000);
  for (const digit of ['3', '4']) await enqueue(digit, 'jpg');
  const over = new AbortController();
  const wanted = { mediaKey: '1'.repeat(32), type: 'mp4', set: 'film' } as const;
  const waiting = renditions.make(wanted, { waitMs: patienceMs, signal: over.signal });
  waiting.catch(() => {});
  await waitUntil('two waiting jobs', async () => (await read('waiting_jobs'))['rendition-films'] === 2);
  const renditionJobs = { 'rendition-pictures': 2, 'rendition-films': 2, 'rendition-slow': 0 };
  const all = { 'probe-photos': 0, 'probe-films': 0, ...renditionJobs };
  expect(await read('waiting_jobs')).toEqual(all);
  vi.setSystemTime(Date.now() + 3000);
  await waitUntil('an older job', async () => (await read('oldest_job_age_seconds'))['rendition-films'] === 5);
  const ages = await read('oldest_job_age_seconds');
  expect([ages['rendition-pictures'], ages['probe-photos']]).toEqual([3, 0]);

  await redis.kill();
  await waitUntil('the series to disappear', async () => Object.keys(await read('waiting_jobs')).length === 0);
  expect(await read('oldest_job_age_seconds')).toEqual({});
  over.abort();
});
