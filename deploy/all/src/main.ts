import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { nodeFlagsOf } from '@echodrop/build/entry-of';
import { awaitReady } from '@echodrop/local/await-ready';
import { exitStatusOf } from '@echodrop/local/exit-status';
import type { Program } from '@echodrop/local/keep-running';
import { planSystem, type SystemPlan } from '@echodrop/local/plan-system';
import { startSystem, stopWithinSeconds } from '@echodrop/local/start-system';
import { stopSignal } from '@echodrop/service/stop-signals';
import { type ContainerSettings, readContainerSettings } from './container-settings.ts';
import { holdVolume } from './hold-volume.ts';
import { jsonOutput } from './json-output.ts';
import { proxyServers } from './proxy-servers.ts';

const { say } = jsonOutput;

// Where the proxy says that it is ready.
const proxyOps = { HOST: '127.0.0.1', OPS_PORT: 9086 };
// /etc/nginx/nginx.conf includes this file (deploy/Dockerfile).
const serversFile = '/tmp/servers.conf';

const stopping = stopSignal();
process.exit(await exitStatusOf(() => runSystem(process.env, stopping), stopping));

/** Runs the whole system of a container until `stopping`. */
async function runSystem(given: NodeJS.ProcessEnv, stopping: AbortSignal): Promise<void> {
  const dataDir = given['DATA_DIR'] || '/data';
  const settings = readContainerSettings(given, dataDir);
  process.umask(0o077);
  await using _held = await holdVolume(dataDir);
  const plan = await planSystem(settings.env, dataDir, settings.origin);
  await writeFile(serversFile, proxyServers(settings, upstreamsOf(plan))).catch((error: Error) => {
    throw new Error(`Cannot write to /tmp: mount a temporary folder there, with --tmpfs /tmp (${error.message})`);
  });
  const built = new Map([...plan.configs.keys()].map((name) => [name, builtProgram(name)]));
  const parts = { built, output: jsonOutput, before: [proxy(plan, settings)], beside: [sweeper(plan)] };
  await using system = await startSystem(plan, parts, stopping);
  await Promise.race([system.failed, serve(plan, settings, stopping)]).finally(() => reportStopping(plan));
}

/** Says when the proxy and all services are ready, or every minute why not, and waits for `stopping`. */
async function serve(plan: SystemPlan, { origin }: ContainerSettings, stopping: AbortSignal): Promise<void> {
  while (!(await areReady(plan, stopping))) {
    // Each attempt lasts up to a minute.
  }
  const hasUploadPage = plan.environments.get('site')?.['WEB_UPLOAD'] === '1';
  say('echodrop', `ready: ${origin}${hasUploadPage ? '/upload' : ''}`);
  if (!stopping.aborted) await once(stopping, 'abort');
}

async function areReady({ configs }: SystemPlan, stopping: AbortSignal): Promise<boolean> {
  try {
    await awaitReady(new Map([...configs, ['proxy', proxyOps]]), stopping);
    return true;
  } catch (error) {
    stopping.throwIfAborted();
    say('echodrop', error instanceof Error ? error.message : `${error}`);
    return false;
  }
}

function reportStopping({ configs }: SystemPlan): void {
  say('echodrop', `stopping: waiting up to ${stopWithinSeconds(configs)} s for uploads and jobs in progress`);
}

function builtProgram(name: string): string {
  return new URL(`../../../built/${name}/main.js`, import.meta.url).pathname;
}

function upstreamsOf({ configs }: SystemPlan) {
  // The proxy sends nothing to a service that does not run.
  const at = (port = 0) => `http://127.0.0.1:${port}`;
  return {
    gateway: at(configs.get('gateway')?.PORT),
    site: at(configs.get('site')?.PORT),
    sandbox: at(configs.get('sandbox-provider')?.PORT),
  };
}

/** nginx, which lets running requests finish on SIGQUIT. Within their grace periods, the gateway and the site end these requests. */
function proxy({ configs }: SystemPlan, { trustedProxies }: ContainerSettings): Program {
  const env = { PATH: process.env['PATH'], TRUSTED_PROXIES: trustedProxies.join() };
  const stopWithinMs = stopWithinSeconds(configs) * 1000;
  return {
    name: 'proxy',
    command: ['start-proxy'],
    env,
    stopSignal: 'SIGQUIT',
    stopWithinMs,
    showAll: false,
    sharesStdout: true,
  };
}

/** Removes orphans (docs/host/sweep.md), as in Compose. */
function sweeper({ environments }: SystemPlan): Program {
  const command = [process.execPath, ...nodeFlagsOf('admin'), builtProgram('admin'), 'sweep', '--yes', '--every', '6'];
  const env = environments.get('gateway') ?? {};
  return { name: 'sweeper', command, env, stopWithinMs: 10_000, showAll: false };
}
