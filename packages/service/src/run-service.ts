import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { InvalidSettings } from './env.ts';
import { Health } from './health.ts';
import { listen } from './http-server.ts';
import { createLog, type Log } from './log.ts';
import { registerBuildMetrics } from './metrics/build-info.ts';
import { registerEventLoopMetrics } from './metrics/event-loop-delay.ts';
import { Metrics } from './metrics/metrics.ts';
import { createOpsServer } from './ops-server.ts';
import type { ProcessSettings } from './process-settings.ts';
import { startTracing } from './tracing/start-tracing.ts';

/** The exit status of a process whose settings are faulty (EX_CONFIG of sysexits.h): starting it again cannot help. */
export const invalidSettingsStatus = 78;

// V8 compiles each function at its first call, without optimizing it, instead of interpreting it. A service has thousands of warm functions
// and few hot ones, so it takes ten thousand requests until V8 has optimized them (docs/decisions/028).
setFlagsFromString('--always-sparkplug');
// Bytes come in buffers that live for a moment. V8 would collect the whole heap after every 32 MiB of them; so it does when they make the process
// larger (docs/decisions/028).
setFlagsFromString('--external-memory-accounted-in-global-limit');
// The young generation is small: to wake the threads that would share its collection costs more than to collect it.
setFlagsFromString('--no-parallel-scavenge');

/** What a service's `main.ts` builds with. Whatever is put on `parts` is disposed of, in reverse, when the process stops. */
export interface Service<C> {
  readonly config: C;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly parts: AsyncDisposableStack;
  /** Aborted when a stop was asked for; requests and jobs that run may still finish. */
  readonly stopping: AbortSignal;
}

/**
 * Runs a process from its settings to its end: builds, says ready, waits for SIGTERM or SIGINT, then stops as docs/design.md says:
 * not ready, SHUTDOWN_DELAY_SECONDS still serving, then everything on `parts` is closed in reverse.
 */
export async function runService<C extends ProcessSettings>(
  name: string,
  readConfig: (env: NodeJS.ProcessEnv) => C,
  build: (service: Service<C>) => Promise<void>,
): Promise<void> {
  const config = configOrExit(name, readConfig);
  const stopping = stopAsked();
  const log = createLog(name, config.LOG_LEVEL);
  const metrics = new Metrics(name);
  const health = new Health();
  const parts = new AsyncDisposableStack();
  registerBuildMetrics(metrics, config.BUILD_REVISION);
  parts.use(registerEventLoopMetrics(metrics));
  try {
    parts.use(await startTracing(name, config, log));
    parts.use(
      await listen(createOpsServer(health, metrics), {
        host: config.HOST,
        port: config.OPS_PORT,
        stopping,
        graceSeconds: 0,
      }),
    );
    // A start that takes long must not hold up a stop.
    await Promise.race([build({ config, log, metrics, health, parts, stopping }), aborted(stopping)]);
    if (!stopping.aborted) {
      health.serving();
      log.info({ opsPort: config.OPS_PORT }, 'Ready');
      // With NODE_COMPILE_CACHE the next start is quicker, also after an end that leaves no time to write it.
      flushCompileCache();
      await aborted(stopping);
      health.stopping();
      log.info('Stopping');
      await sleep(config.SHUTDOWN_DELAY_SECONDS * 1000);
    }
  } catch (error) {
    process.exitCode = 1;
    log.fatal({ err: error }, 'Fatal error');
  }
  endIfStuck(config.SHUTDOWN_GRACE_SECONDS, log);
  await parts.disposeAsync();
  log.info('Stopped');
  // All that was promised is done: what a start that was broken off has left behind is not waited for.
  process.exit();
}

function configOrExit<C>(name: string, readConfig: (env: NodeJS.ProcessEnv) => C): C {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    for (const fault of error.faults) process.stderr.write(`${name}: ${fault}\n`);
    process.exit(invalidSettingsStatus);
  }
}

function stopAsked(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  return stop.signal;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

// A part that does not close within the grace must not keep the process: what it held is given up.
function endIfStuck(graceSeconds: number, log: Log): void {
  const margin = 5;
  setTimeout(
    () => {
      log.error('Shutdown timed out; exiting with open resources');
      process.exit(1);
    },
    (graceSeconds + margin) * 1000,
  ).unref();
}
