import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { registerEventLoopMetrics } from './event-loop-delay.ts';
import { Metrics } from './metrics.ts';

test('an event loop that stands still is told as long as what came in had to wait', async () => {
  const metrics = new Metrics('test');
  using _watch = registerEventLoopMetrics(metrics);
  const looks = async (bucket: string) => {
    const { text } = await metrics.exposition();
    return Number(
      new RegExp(`^echodrop_event_loop_delay_seconds_bucket\\{le="${bucket}",.*\\} (\\d+)`, 'm').exec(text)?.[1],
    );
  };
  await waitUntil('a first look', 5000, async () => (await looks('\\+Inf')) > 0);
  const beyond = async () => (await looks('\\+Inf')) - (await looks('0.25'));
  const before = await beyond();
  const end = performance.now() + 2300;
  while (performance.now() < end);
  // 1.3 s and 0.3 s at least: a block that begins just before a look makes both later.
  await waitUntil('late looks', 5000, async () => (await beyond()) >= before + 2);
  expect((await metrics.exposition()).text).not.toMatch(/^nodejs_eventloop_lag/m);
});
