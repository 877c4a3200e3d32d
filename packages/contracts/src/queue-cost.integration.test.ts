import { queueOptionsFor } from '@echodrop/queue/queue.fixture';
import { patienceMs, patientSignal } from '@echodrop/testkit/patience';
import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { Worker } from 'bullmq';
import { expect, test, vi } from 'vitest';
import { ProbeClient, startProbeWorkers } from './probe.ts';
import { RenditionClient } from './rendition.ts';

const uploads = 40;

test('sequential uploads cost at most 5.1 scripts and three commands each', async () => {
  await using redis = await startRedis();
  await using resources = new AsyncDisposableStack();
  const reply = { outcome: 'media', kind: 'photo', type: 'jpg', width: 3, height: 2 } as const;
  const serving = { photoConcurrency: 8, videoConcurrency: 1, graceSeconds: 0, onEnd: () => {} };
  const [photos, videos] = startProbeWorkers({ ...serving, probe: async () => reply }, queueOptionsFor(redis.url));
  // An idle worker sends commands every 3 s.
  await videos?.[Symbol.asyncDispose]();
  resources.use(photos);
  const probes = resources.use(new ProbeClient(queueOptionsFor(redis.url)));
  const renditions = resources.use(new RenditionClient(queueOptionsFor(redis.url)));
  const upload = async (mediaKey: string) => {
    const waiting = { owner: 'a', deadlineMs: patienceMs, signal: patientSignal() };
    expect(await probes.probe({ mediaKey, size: 3, head: Buffer.from('any') }, 'jpg', waiting)).toEqual(reply);
    await renditions.enqueue({ mediaKey, type: 'jpg' });
  };
  await waitUntil('a first upload', () => upload('first').then(() => true));

  const commands = async () => {
    const stats = await redis.command('INFO', 'commandstats');
    const calls = [...stats.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)];
    return Object.fromEntries(calls.map(([, name, count]) => [name, Number(count)]));
  };
  const settled = () =>
    waitUntil('the worker to wait', async () => /^blocked_clients:1\r/m.test(await redis.command('INFO', 'clients')));
  // Every 3 s, the worker looks for jobs of dead workers.
  const checked = Worker.prototype as unknown as { moveStalledJobsToWait(): Promise<void> };
  const checks = vi.spyOn(checked, 'moveStalledJobsToWait');
  await settled();
  const before = await commands();
  checks.mockClear();
  for (let n = 0; n < uploads; n += 1) {
    await upload(`upload-${n}`);
    await settled();
  }
  const after = await commands();
  const checksEach = checks.mock.calls.length / uploads;
  const each = (name: string) => ((after[name] ?? 0) - (before[name] ?? 0)) / uploads;
  expect(each('evalsha') - checksEach).toBeLessThanOrEqual(5.1);
  expect(each('spublish')).toBe(1);
  expect(each('bzpopmin')).toBeLessThanOrEqual(2.1);
  // Called by scripts: the worker reads the job.
  expect(each('hgetall')).toBe(1);
  expect(each('xread')).toBe(0);
});
