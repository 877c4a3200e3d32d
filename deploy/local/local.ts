import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { builtPrograms, keepBuilds } from '@echodrop/build/built-programs';
import { hasSandbox, localAddress } from '@echodrop/client/local-system';
import { stopSignal } from '@echodrop/service/stop-signals';
import { escapeLines } from '@echodrop/service/terminal-text';
import { awaitReady } from './await-ready.ts';
import { localEnvironments } from './default-settings.ts';
import { exitStatusOf } from './exit-status.ts';
import { type Sample, sample, sampleAsCurl, sampleTarget, uploadSample } from './first-upload.ts';
import { holdDataDir } from './hold-data-dir.ts';
import { withSandboxMode } from './media-sandbox.ts';
import { planSystem, type SystemPlan, usesOwnRedis } from './plan-system.ts';
import { portsOf } from './read-all-settings.ts';
import { requireFreePorts } from './require-free-ports.ts';
import { startSystem, stopWithinSeconds } from './start-system.ts';
import { requireSystemTools } from './system-tools.ts';
import { say, terminalOutput } from './terminal.ts';

const dayMs = 24 * 60 * 60_000;

const help = `Usage: npm start

Runs the whole system on loopback. Ctrl-C stops it. Settings are environment variables
(docs/reference/settings.md#npm-start); none is required. All data is in ./data, or DATA_DIR.
`;

const outputGone = new AbortController();
// The reader of the output may be gone.
process.stdout.on('error', () => outputGone.abort());
const stopping = AbortSignal.any([stopSignal(), outputGone.signal]);
process.exit(await exitStatusOf(() => run(process.env, stopping), stopping));

/** Prints help, or runs the whole system until `stopping`. */
async function run(env: NodeJS.ProcessEnv, stopping: AbortSignal): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) process.stdout.write(help);
  else await runSystem(env, stopping);
}

async function runSystem(env: NodeJS.ProcessEnv, stopping: AbortSignal): Promise<void> {
  const dataDir = resolve(env['DATA_DIR'] || 'data');
  await requireSystemTools(usesOwnRedis(localEnvironments(env, dataDir), dataDir), stopping, env);
  await using _held = await holdDataDir(dataDir);
  const planned = await planSystem(env, dataDir);
  const plan = { ...planned, environments: await withSandboxMode(planned.environments) };
  await requireFreePorts(portsOf(plan.configs), env);

  // From here on, only the user can read what the system writes, including logs and media.
  process.umask(0o077);
  const logDir = logDirOf(dataDir);
  await mkdir(logDir, { recursive: true });
  const built = await builtPrograms([...plan.configs.keys()], { signal: stopping });
  const keeping = setInterval(() => void keepBuilds(built).catch(() => {}), dayMs);
  try {
    await using system = await startSystem(plan, { built, output: terminalOutput(logDir) }, stopping);
    await Promise.race([system.failed, serve(plan, env, stopping)]).finally(() => reportStopping(plan));
  } finally {
    clearInterval(keeping);
  }
  say('echodrop', 'stopped');
}

function logDirOf(dataDir: string): string {
  return join(dataDir, 'logs');
}

/** Waits until all services are ready, uploads a sample, prints how to use the system, and waits for `stopping`. */
async function serve(plan: SystemPlan, env: NodeJS.ProcessEnv, stopping: AbortSignal): Promise<void> {
  await awaitReady(plan.configs, stopping);
  const site = localAddress('site', env);
  say('site', site);
  say('gateway', localAddress('gateway', env));
  if (hasSandbox(env)) say('sandbox-provider', localAddress('sandbox-provider', env));
  const logDir = logDirOf(plan.dataDir);
  const logs = relative('.', logDir);
  say('logs', logs.startsWith('..') ? logDir : logs);

  const target = sampleTarget(env);
  const reason = hasSandbox(env) ? 'SANDBOX_USERS_FILE is set' : 'IDENTITY_PROVIDERS is set';
  if (target) await showSample(target, stopping);
  else say('sample', `skipped: ${reason}`);
  if (plan.environments.get('site')?.['WEB_UPLOAD'] === '1') say('upload page', `${site}/upload`);
  say('echodrop', 'ready');
  if (!stopping.aborted) await once(stopping, 'abort');
}

async function showSample(target: Sample, stopping: AbortSignal): Promise<void> {
  const { response, page } = await uploadSample(target, stopping);
  const command = `To repeat this upload, run in ${process.cwd()}:\n${sampleAsCurl(target)}`;
  process.stdout.write(escapeLines(`\nUploaded ${sample}. ${command}\n\nResponse:\n${response}\n\n`));
  if (page) say('photo page', page);
}

function reportStopping({ configs }: SystemPlan): void {
  say(
    'echodrop',
    `stopping: waiting up to ${stopWithinSeconds(configs)} s for uploads and jobs in progress; press Ctrl-C again to stop now`,
  );
}
