import type { Metrics } from './metrics.ts';

// Each sample wakes an idle process, which costs more than the sample itself.
const intervalMs = 1000;
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Registers a histogram of how late timers fire, which is how long events wait. Unlike a gauge, it can be summed and scraped by several. */
export function registerEventLoopMetrics(metrics: Metrics): Disposable {
  const delays = metrics.histogram(
    'echodrop_event_loop_delay_seconds',
    'Event loop delay, sampled once a second.',
    [],
    buckets,
  );
  let expected = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const now = performance.now();
    let late = Math.max(0, now - expected);
    // Also counts the samples that the block prevented, each with its shorter delay.
    do {
      delays.observe(late / 1000);
      late -= intervalMs;
    } while (late > 0);
    expected = now + intervalMs;
  }, intervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
