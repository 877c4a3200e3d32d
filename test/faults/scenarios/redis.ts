import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@echodrop/testkit/free-ports';
import type { LinkState } from '@echodrop/testkit/servers/spreading-proxy';
import type { RunningRedis } from '@echodrop/testkit/servers/start-redis';
import { onDispose, runUntilDisposed } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';

const both = ['queue-redis', 'cache-redis'] as const;

type Role = (typeof both)[number];

/** Faults of a running Redis (queue, cache or both): lost keys, refused writes, unreachable. */
export const redisScenarios: readonly Scenario[] = [
  { ...wiped(['queue-redis'], 5), isShort: true },
  wiped(['cache-redis'], 5),
  wiped(both, 5),
  { ...full(['queue-redis'], 5), isShort: true },
  full(['cache-redis'], 5),
  full(both, 15),
  { ...readOnly(['queue-redis'], 4), isShort: true },
  readOnly(['cache-redis'], 5),
  { ...unreachable(both, 'silent', 5), isShort: true },
  unreachable(['queue-redis'], 'silent', 20),
  unreachable(['cache-redis'], 'silent', 20),
  unreachable(['queue-redis'], 'cut', 15),
  unreachable(['cache-redis'], 'cut', 15),
  {
    name: 'fail over the queue Redis',
    breaks:
      'the master of the queue Redis is killed, sentinels promote a replica, and the old master returns as a replica',
    forSeconds: 10,
    on: 'sentinels',
    forgetsKeys: true,
    begin: failOver,
  },
];

function wiped(roles: readonly Role[], forSeconds: number): Scenario {
  return {
    name: `wipe ${roles.join(' and ')}`,
    breaks: `FLUSHALL of ${roles.join(' and ')}, once a second`,
    forSeconds,
    forgetsKeys: true,
    begin: async (day) => runUntilDisposed((over) => wipeUntil(over, day, roles)),
  };
}

async function wipeUntil(over: AbortSignal, { system, broke }: GameDay, roles: readonly Role[]): Promise<void> {
  while (!over.aborted) {
    await Promise.all(redisesOf(system, roles).map((redis) => redis.command('FLUSHALL')));
    broke();
    await sleep(1000, undefined, { signal: over }).catch(() => {});
  }
}

function full(roles: readonly Role[], forSeconds: number): Scenario {
  return {
    name: `fill ${roles.join(' and ')}`,
    breaks: `${roles.join(' and ')} refuses every write with OOM`,
    forSeconds,
    begin: async ({ system, broke }) => {
      const redises = redisesOf(system, roles);
      await sendToAll(redises, 'CONFIG', 'SET', 'maxmemory', '1');
      broke();
      return onDispose(() => sendToAll(redises, 'CONFIG', 'SET', 'maxmemory', '0'));
    },
  };
}

function readOnly(roles: readonly Role[], forSeconds: number): Scenario {
  return {
    name: `${roles.join(' and ')} read-only`,
    breaks: `${roles.join(' and ')} is a replica without a master and refuses every write with READONLY`,
    forSeconds,
    begin: async ({ system, broke }) => {
      const redises = redisesOf(system, roles);
      await sendToAll(redises, 'REPLICAOF', '127.0.0.1', `${await freePort()}`);
      broke();
      return onDispose(() => sendToAll(redises, 'REPLICAOF', 'NO', 'ONE'));
    },
  };
}

function unreachable(roles: readonly Role[], state: Exclude<LinkState, 'passes'>, forSeconds: number): Scenario {
  const how =
    state === 'cut' ? 'all connections are reset, also new ones' : 'all packets are dropped, without an error';
  return {
    name: `${state === 'cut' ? 'cut off' : 'partition'} ${roles.join(' and ')}, ${forSeconds} s`,
    breaks: `between services and ${roles.join(' and ')}, ${how}`,
    forSeconds,
    begin: async ({ system, broke }) => {
      for (const role of roles) system.links[role].turn(state);
      broke();
      return onDispose(() => {
        for (const role of roles) system.links[role].turn('passes');
      });
    },
  };
}

async function failOver({ system, broke }: GameDay): Promise<AsyncDisposable> {
  if (!system.redisSet) throw new Error('this Redis has no replicas');
  const master = await system.redisSet.master();
  await master.kill();
  broke();
  return onDispose(() => master.restart());
}

function redisesOf({ queueRedis, cacheRedis }: GameDay['system'], roles: readonly Role[]): RunningRedis[] {
  return roles.map((role) => ({ 'queue-redis': queueRedis, 'cache-redis': cacheRedis })[role]);
}

async function sendToAll(redises: readonly RunningRedis[], ...words: string[]): Promise<void> {
  await Promise.all(redises.map((redis) => redis.command(...words)));
}
