import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { InvalidSettings } from './env.ts';
import { Health } from './health.ts';
import { listen } from './http-server.ts';
import { createLog, type Log } from './log.ts';
import { registerEventLoopMetrics } from './metrics/event-loop-delay.ts';
import { type RouteOf, registerHttpMetrics } from './metrics/http-metrics.ts';
import { Metrics } from './metrics/metrics.ts';
import { createOpsServer } from './ops-server.ts';
import type { ProcessSettings } from './process-settings.ts';
import { secretsIn } from './reason-of.ts';
import { findRemovedSettings } from './removed-settings.ts';
import { escapeLine } from './terminal-text.ts';
import { startTracing } from './tracing/start-tracing.ts';

/** Exit status for invalid settings (EX_CONFIG of sysexits.h): a restart cannot help. */
export const invalidSettingsStatus = 78;

const shutdownMarginMs = 5000;

// docs/decisions/upload-cost.md says what each is for.
for (const flag of [
  '--always-sparkplug',
  '--external-memory-accounted-in-global-limit',
  '--no-memory-reducer-favors-memory',
  '--no-parallel-scavenge',
])
  setFlagsFromString(flag);

/** What a service's `main.ts` needs. The resources in `resources` are disposed in reverse order at shutdown. */
export interface Service<C> {
  readonly config: C;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly resources: AsyncDisposableStack;
  /** Lets a server listen until the shutdown, with metrics of its requests. `resources` of earlier parts outlive it. */
  readonly serve: (server: Server, port: number, routeOf?: RouteOf) => Promise<void>;
}

/**
 * Runs a service: reads settings, calls `build`, becomes ready, and waits for SIGTERM or SIGINT. Then it is not ready, serves for another
 * SHUTDOWN_DELAY_SECONDS, and disposes `resources` in reverse order (docs/why/code.md, rule 3).
 */
export async function runService<C extends ProcessSettings>(
  name: string,
  readConfig: (env: NodeJS.ProcessEnv) => C,
  build: (service: Service<C>) => Promise<void>,
): Promise<void> {
  const config = configOrExit(name, readConfig);
  // Writes NODE_COMPILE_CACHE now: the process may be killed before a regular end. On a busy machine this blocks for seconds. During or after
  // `build`, connections to Redis would time out meanwhile.
  flushCompileCache();
  const stopping = abortOnSignals();
  const stopped = once(stopping, 'abort');
  const log = createLog(name, config.LOG_LEVEL);
  logWhatNodePrints(log);
  for (const sentence of findRemovedSettings(name, process.env)) log.warn(sentence);
  const metrics = new Metrics(name);
  const health = new Health(log, secretsIn(config));
  const resources = new AsyncDisposableStack();
  const info = metrics.gauge('echodrop_build_info', 'Always 1; labels carry version and revision.', [
    'version',
    'revision',
  ]);
  info.set({ version: readVersion(), revision: config.BUILD_REVISION }, 1);
  resources.use(registerEventLoopMetrics(metrics));
  try {
    resources.use(await startTracing(name, config, log));
    const { HOST: host, OPS_PORT: opsPort, SHUTDOWN_GRACE_SECONDS: graceSeconds } = config;
    const ops = createOpsServer(health, metrics, log);
    resources.use(await listen(ops, { host, port: opsPort, stopping, graceSeconds: 0 }));
    const serve = async (server: Server, port: number, routeOf?: RouteOf) => {
      registerHttpMetrics(metrics, server, routeOf);
      resources.use(await listen(server, { host, port, stopping, graceSeconds }));
      log.info({ host, port }, 'Listening');
    };
    // A slow start must not delay a shutdown.
    await Promise.race([build({ config, log, metrics, health, resources, serve }), stopped]);
    if (!stopping.aborted) {
      log.info({ opsPort }, 'Ready');
      health.markServing();
      await stopped;
      health.markStopping();
      log.info('Stopping');
      await sleep(config.SHUTDOWN_DELAY_SECONDS * 1000);
    }
  } catch (error) {
    process.exitCode = 1;
    log.fatal({ err: error }, 'Fatal error');
  }
  const late = () => {
    log.error('Shutdown timed out; exiting with open resources');
    process.exit(1);
  };
  setTimeout(late, config.SHUTDOWN_GRACE_SECONDS * 1000 + shutdownMarginMs).unref();
  await resources.disposeAsync();
  log.info('Stopped');
  // Handles without an owner, such as those of an interrupted start, must not keep the process.
  process.exit();
}

function configOrExit<C>(name: string, readConfig: (env: NodeJS.ProcessEnv) => C): C {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    for (const fault of error.faults) process.stderr.write(`${name}: ${escapeLine(fault)}\n`);
    process.exit(invalidSettingsStatus);
  }
}

/** Node would print warnings and uncaught errors as they are, with text of requests. */
function logWhatNodePrints(log: Log): void {
  process.removeAllListeners('warning').on('warning', (warning) => log.warn({ err: warning }, 'Warning from Node'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'Uncaught error');
    process.exit(1);
  });
}

function abortOnSignals(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  return stop.signal;
}

function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version;
}
