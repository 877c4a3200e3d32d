import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { registerEventLoopMetrics } from './event-loop-delay.ts';
import { Metrics } from './metrics.ts';

test('measures how long a blocked event loop delays events', async () => {
  const metrics = new Metrics('test');
  using _watch = registerEventLoopMetrics(metrics);
  const samples = async (bucket: string) => {
    const { text } = await metrics.exposition();
    return Number(
      new RegExp(`^echodrop_event_loop_delay_seconds_bucket\\{le="${bucket}",.*\\} (\\d+)`, 'm').exec(text)?.[1],
    );
  };
  await waitUntil('a first sample', async () => (await samples('\\+Inf')) > 0);
  const beyond = async () => (await samples('\\+Inf')) - (await samples('0.25'));
  const before = await beyond();
  // Blocks this thread.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2300);
  // At least 1.3 s and 0.3 s; a block that starts just before a sample delays both more.
  await waitUntil('late samples', async () => (await beyond()) >= before + 2);
  expect((await metrics.exposition()).text).not.toMatch(/^nodejs_eventloop_lag/m);
});
