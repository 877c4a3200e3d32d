import { once } from 'node:events';
import { relative, resolve } from 'node:path';
import { hasSandbox, localAddress } from '@echodrop/client/local-system';
import { sandboxFault } from '@echodrop/media/sandbox/prepare-tools';
import { InvalidSettings } from '@echodrop/service/env';
import { invalidSettingsStatus } from '@echodrop/service/run-service';
import { awaitReady } from './await-ready.ts';
import { type Sample, sampleAsCurl, sampleTarget, uploadSample } from './first-upload.ts';
import { requireFree } from './free-ports.ts';
import { holdDataDir } from './hold-data-dir.ts';
import { planSystem, type SystemPlan } from './plan-system.ts';
import { portsOf } from './read-all-settings.ts';
import { logDir, startSystem, stopWithinSeconds } from './start-system.ts';
import { stopSignal } from './stop-signals.ts';
import { requireSystemTools } from './system-tools.ts';
import { say } from './terminal.ts';

process.exit(await run(process.env, stopSignal()));

/** Runs the whole system until `stopping`; the exit status is 0, or 78 for faulty settings, or 1 when it cannot go on. */
async function run(env: NodeJS.ProcessEnv, stopping: AbortSignal): Promise<number> {
  try {
    await runSystem(env, stopping);
    return 0;
  } catch (error) {
    if (stopping.aborted) return 0;
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return error instanceof InvalidSettings ? invalidSettingsStatus : 1;
  }
}

async function runSystem(env: NodeJS.ProcessEnv, stopping: AbortSignal): Promise<void> {
  const dataDir = resolve(env['DATA_DIR'] || 'data');
  using _held = await holdDataDir(dataDir, stopping);
  const planned = await planSystem(env, dataDir);
  await requireSystemTools(planned.redis !== undefined, stopping);
  const plan = await withSandboxMode(planned, env);
  await requireFree(portsOf(plan.configs), env, stopping);

  // Whatever the system writes from here on, logs and media included, is readable by its user alone.
  process.umask(0o077);
  {
    await using system = await startSystem(plan, stopping);
    await Promise.race([system.failed, serve(plan, env, stopping)]).finally(() => sayStopping(plan));
  }
  say('echodrop', 'stopped');
}

// Without the kernel's help a system to try out still runs; a worker in a container would refuse to start.
async function withSandboxMode(plan: SystemPlan, env: NodeJS.ProcessEnv): Promise<SystemPlan> {
  const fault = env['MEDIA_SANDBOX'] ? undefined : await sandboxFault();
  if (!fault) return plan;
  say('media', `tools run with limits alone, not in a sandbox: ${fault}`);
  const environments = [...plan.environments].map(
    ([name, each]) => [name, { ...each, MEDIA_SANDBOX: 'limits-only' }] as const,
  );
  return { ...plan, environments: new Map(environments) };
}

/** From started to stopping: waits until all is ready, shows that it works, and says how to use it. */
async function serve(plan: SystemPlan, env: NodeJS.ProcessEnv, stopping: AbortSignal): Promise<void> {
  await awaitReady(plan.configs, stopping);
  say('gateway', localAddress('gateway', env));
  say('site', localAddress('site', env));
  if (hasSandbox(env)) say('sandbox-provider', localAddress('sandbox-provider', env));
  say('logs', relative('.', logDir(plan)) || logDir(plan));

  const target = sampleTarget(env);
  if (target) await showSample(target, stopping);
  else
    say(
      'sample',
      hasSandbox(env)
        ? 'not uploaded: SANDBOX_USERS_FILE or SANDBOX_BEHAVIOUR makes the sandbox know others, or misbehave'
        : 'not uploaded: with IDENTITY_PROVIDERS set no sandbox is started, and no user is known here',
    );
  say('echodrop', 'ready');
  if (!stopping.aborted) await once(stopping, 'abort');
}

async function showSample(target: Sample, stopping: AbortSignal): Promise<void> {
  const { answer, page } = await uploadSample(target, stopping);
  const command = `In ${process.cwd()}, at any later time:\n${sampleAsCurl(target)}`;
  process.stdout.write(`\n${command}\n${answer}\n\n`);
  if (page) say('page', page);
}

function sayStopping({ configs }: SystemPlan): void {
  say(
    'echodrop',
    `stopping; what runs may finish, for ${stopWithinSeconds(configs)} s at most; a second Ctrl-C ends it at once`,
  );
}
