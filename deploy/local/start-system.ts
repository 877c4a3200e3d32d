import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { entryOf } from '@echodrop/build/entry-of';
import { dieWithParent } from './die-with-parent.ts';
import { type Kept, keepRunning, type Program } from './keep-running.ts';
import { listening, ownRedis, type RedisLogin } from './own-redis.ts';
import type { SystemPlan } from './plan-system.ts';
import { frontServices, type ServiceConfig, type ServiceName } from './services.ts';
import { redisServer } from './system-tools.ts';

export function logDir({ dataDir }: Pick<SystemPlan, 'dataDir'>): string {
  return join(dataDir, 'logs');
}

/**
 * Starts Redis, where it belongs to the system, and then every service at once. Disposing ends them in order: what takes
 * requests from outside, then the rest, then Redis.
 * @throws an Error when Redis cannot be reached, or the signal's reason
 */
export async function startSystem(plan: SystemPlan, stopping: AbortSignal): Promise<Kept> {
  const prefix = await dieWithParent();
  await using starting = new AsyncDisposableStack();
  const keep = async (programs: readonly Program[]): Promise<Kept> => {
    await Promise.all(programs.map(({ name }) => emptyLog(plan, name)));
    const kept = programs.map((program) => keepRunning(withPrefix(prefix, program), logDir(plan)));
    return starting.use(together(kept));
  };

  if (plan.redis) {
    await keep([await redisProgram(plan.dataDir, plan.redis)]);
    await listening(plan.redis.port, stopping);
  }
  const names = [...plan.configs.keys()];
  const back = await keep(names.filter((name) => !frontServices.has(name)).map((name) => serviceProgram(name, plan)));
  const front = await keep(names.filter((name) => frontServices.has(name)).map((name) => serviceProgram(name, plan)));

  const parts = starting.move();
  return { failed: Promise.race([back.failed, front.failed]), [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** How long what runs may take to finish once the system stops: uploads first, then jobs. */
export function stopWithinSeconds(configs: SystemPlan['configs']): number {
  const longest = (inFront: boolean) =>
    Math.max(
      ...[...configs].filter(([name]) => frontServices.has(name) === inFront).map(([, config]) => graceOf(config)),
    );
  return longest(true) + longest(false);
}

function together(kept: readonly Kept[]): Kept {
  return {
    failed: Promise.race(kept.map(({ failed }) => failed)),
    async [Symbol.asyncDispose]() {
      await Promise.all(kept.map((each) => each[Symbol.asyncDispose]()));
    },
  };
}

async function redisProgram(dataDir: string, login: RedisLogin): Promise<Program> {
  const command = await ownRedis((await redisServer()) ?? 'redis-server', dataDir, login);
  return { name: 'redis', command, env: process.env, stopWithinMs: 10_000, showAll: false };
}

function serviceProgram(name: ServiceName, { configs, environments }: SystemPlan): Program {
  const env = environments.get(name) ?? {};
  return {
    name,
    command: [process.execPath, entryOf(name)],
    env,
    stopWithinMs: stopWithinMs(configs.get(name)),
    showAll: Boolean(env['LOG_LEVEL']),
  };
}

// A service ends itself when a part of it does not close within the grace and a little more; after that it is beyond words.
function stopWithinMs(config: ServiceConfig | undefined): number {
  return ((config ? graceOf(config) : 0) + 8) * 1000;
}

function graceOf({ SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_GRACE_SECONDS: grace }: ServiceConfig): number {
  return delay + grace;
}

function withPrefix(prefix: readonly string[], program: Program): Program {
  const [first, ...rest] = [...prefix, ...program.command];
  return first === undefined ? program : { ...program, command: [first, ...rest] };
}

/** Logs are those of this run. */
async function emptyLog(plan: SystemPlan, name: string): Promise<void> {
  await mkdir(logDir(plan), { recursive: true });
  await writeFile(join(logDir(plan), `${name}.log`), '');
}
