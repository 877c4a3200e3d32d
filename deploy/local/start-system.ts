import { availableAllocator } from '@echodrop/build/allocator';
import { nodeFlagsOf } from '@echodrop/build/entry-of';
import { type Kept, keepRunning, type Program } from './keep-running.ts';
import { awaitListening, type RedisLogin, writeRedisConfig } from './local-redis.ts';
import type { Output } from './output.ts';
import type { SystemPlan } from './plan-system.ts';
import { frontServices, type ServiceConfig, type ServiceName } from './services.ts';
import { redisServer } from './system-tools.ts';

// If a part of a service hangs, the service ends itself 5 s after its grace period (runService), and is killed 3 s later.
const stuckMs = 8000;

/** What `npm start` and the image `all` do differently. */
interface SystemParts {
  /** The built program of each service. */
  readonly built: ReadonlyMap<ServiceName, string>;
  readonly output: Output;
  /** Programs in front of the front services, such as a proxy. They start and stop with these services. */
  readonly before?: readonly Program[];
  /** Programs that stop with the other services. */
  readonly beside?: readonly Program[];
}

/**
 * Starts the system's Redis, if any, and then all services at once. Disposing stops the front services, then the others, then Redis.
 * @throws an Error if Redis cannot be reached, or the signal's reason
 */
export async function startSystem(
  plan: SystemPlan,
  { built, output, before = [], beside = [] }: SystemParts,
  stopping: AbortSignal,
): Promise<Kept> {
  await using starting = new AsyncDisposableStack();
  const keep = (programs: readonly Program[]): Promise<never> => {
    const kept = programs.map((each) => keepRunning(each, output));
    starting.defer(async () => void (await Promise.all(kept.map((each) => each[Symbol.asyncDispose]()))));
    return Promise.race(kept.map(({ failed }) => failed));
  };

  if (plan.redis) {
    keep([await redisProgram(plan.dataDir, plan.redis)]);
    await awaitListening(plan.redis.port, stopping);
  }
  const allocator = availableAllocator();
  const programOf = ([name, config]: [ServiceName, ServiceConfig]) =>
    serviceProgram(name, config, {
      env: { ...allocator, ...plan.environments.get(name) },
      main: built.get(name) ?? '',
    });
  const { front = [], back = [] } = Object.groupBy([...plan.configs], ([name]) =>
    frontServices.has(name) ? 'front' : 'back',
  );
  const failed = Promise.race([keep([...back.map(programOf), ...beside]), keep([...before, ...front.map(programOf)])]);
  const parts = starting.move();
  return { failed, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** The grace periods, in seconds: that of the front services, which stop first, and that of the others. A service that hangs takes longer. */
export function stopWithinSeconds(configs: SystemPlan['configs']): number {
  const longest = (isFront: boolean) =>
    Math.max(
      ...[...configs].filter(([name]) => frontServices.has(name) === isFront).map(([, config]) => graceOf(config)),
    );
  return longest(true) + longest(false);
}

async function redisProgram(dataDir: string, login: RedisLogin): Promise<Program> {
  const command = [(await redisServer()) ?? 'redis-server', await writeRedisConfig(dataDir, login)];
  return { name: 'redis', command, env: process.env, stopWithinMs: 10_000, showAll: false };
}

function serviceProgram(
  name: ServiceName,
  config: ServiceConfig,
  { env, main }: { readonly env: NodeJS.ProcessEnv; readonly main: string },
): Program {
  const stopWithinMs = graceOf(config) * 1000 + stuckMs;
  const command = [process.execPath, ...nodeFlagsOf(name), main];
  return { name, command, env, stopWithinMs, showAll: Boolean(env['LOG_LEVEL']) };
}

function graceOf({ SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_GRACE_SECONDS: grace }: ServiceConfig): number {
  return delay + grace;
}
