import type { Metrics } from './metrics.ts';

// Each look wakes an idle process, which costs more than the look itself.
const everyMs = 1000;
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Records how late timers fire, sampled once a second: what comes in waits as long for the event loop.
 * A histogram, so that processes can be put together and scrapers do not disturb each other.
 */
export function registerEventLoopMetrics(metrics: Metrics): Disposable {
  const delays = metrics.histogram(
    'echodrop_event_loop_delay_seconds',
    'Timer delay, sampled once a second.',
    [],
    buckets,
  );
  let expected = performance.now() + everyMs;
  const timer = setInterval(() => {
    const now = performance.now();
    let late = Math.max(0, now - expected);
    // What would have come in meanwhile has waited too, the less the later it came.
    do {
      delays.observe(late / 1000);
      late -= everyMs;
    } while (late > 0);
    expected = now + everyMs;
  }, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
