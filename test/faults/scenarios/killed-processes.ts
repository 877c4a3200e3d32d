import { setTimeout as sleep } from 'node:timers/promises';
import type { StoppableServer } from '@echodrop/testkit/servers/server-process';
import { onDispose, runUntilDisposed } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';

const services = ['gateway', 'auth-verifier', 'probe-worker', 'rendition-worker', 'site'] as const;

/** Every component that others depend on. */
const all = [...services, 'sandbox-provider', 'queue-redis', 'cache-redis', 'minio'] as const;

type Component = (typeof all)[number];

const pairs: readonly (readonly [Component, Component])[] = [
  ['gateway', 'queue-redis'],
  ['gateway', 'minio'],
  ['gateway', 'probe-worker'],
  ['gateway', 'auth-verifier'],
  ['probe-worker', 'rendition-worker'],
  ['queue-redis', 'minio'],
  ['queue-redis', 'cache-redis'],
  ['auth-verifier', 'cache-redis'],
  ['rendition-worker', 'minio'],
];

const freezes = [5, 30, 90];
const longerFreezes: readonly (readonly [readonly [Component, Component], number])[] = [
  [['gateway', 'queue-redis'], 30],
  [['gateway', 'minio'], 30],
  [['queue-redis', 'minio'], 30],
  [['gateway', 'queue-redis'], 90],
  [['queue-redis', 'minio'], 90],
];
const betweenMs = { min: 300, max: 1500 };

/** Kills and freezes: single components, pairs, and random choices. */
export const processScenarios: readonly Scenario[] = [
  ...all.map((each) => killed([each], 2)),
  ...pairs.map((pair) => killed(pair, 2)),
  ...freezes.flatMap((seconds) => all.map((each) => frozen([each], seconds))),
  ...pairs.map((pair) => frozen(pair, 5)),
  ...longerFreezes.map(([pair, seconds]) => frozen(pair, seconds)),
  killedAtRandom('any component', all, 90),
  { ...killedAtRandom('the gateway', ['gateway'], 7), isShort: true },
  { ...killedAtRandom('two components at once', all, 8, 2), isShort: true },
  { ...killedAtRandom('any service with a filesystem store', services, 20), on: 'folder' },
  { ...frozen(['queue-redis', 'minio'], 4), name: 'freeze queue-redis and minio briefly', isShort: true },
];

function killed(targets: readonly Component[], forSeconds: number): Scenario {
  return {
    name: `kill ${targets.join(' and ')}`,
    breaks: `SIGKILL of ${targets.join(' and ')}, restarted after ${forSeconds} s`,
    forSeconds,
    begin: broken(
      targets,
      (server) => server.kill(),
      (server) => server.restart(),
    ),
  };
}

function frozen(targets: readonly Component[], forSeconds: number): Scenario {
  return {
    name: `freeze ${targets.join(' and ')} ${forSeconds} s`,
    breaks: `SIGSTOP of ${targets.join(' and ')}; their sockets stay open`,
    forSeconds,
    begin: broken(
      targets,
      (server) => server.freeze(),
      (server) => server.thaw(),
    ),
  };
}

type Act = (server: StoppableServer) => Promise<unknown> | unknown;

// Breaks all targets at once, and restores them at the end.
function broken(targets: readonly Component[], fault: Act, undo: Act): Scenario['begin'] {
  return async ({ system, broke }) => {
    const servers = targets.map((component) => serverOf(component, system));
    await Promise.all(servers.map(fault));
    broke();
    return onDispose(() => Promise.all(servers.map(undo)));
  };
}

// Frequent kills are more likely to hit each step of an upload.
function killedAtRandom(what: string, targets: readonly Component[], forSeconds: number, atOnce = 1): Scenario {
  return {
    name: `kill ${what} repeatedly`,
    breaks: `SIGKILL of ${what}, restarted at once, and killed again after a moment`,
    forSeconds,
    begin: async (day) => runUntilDisposed((over) => killUntil(over, day, targets, atOnce)),
  };
}

async function killUntil(over: AbortSignal, day: GameDay, targets: readonly Component[], count: number): Promise<void> {
  const { system, random, broke } = day;
  while (!over.aborted) {
    const victims = random.shuffled(targets).slice(0, count);
    const servers = victims.map((component) => serverOf(component, system));
    await Promise.all(servers.map((server) => server.kill()));
    broke();
    await Promise.all(servers.map((server) => server.restart()));
    await sleep(random.between(betweenMs.min, betweenMs.max), undefined, { signal: over }).catch(() => {});
  }
}

function serverOf(component: Component, { servers }: GameDay['system']): StoppableServer {
  const server = servers[component];
  if (!server) throw new Error(`there is no ${component}`);
  return server;
}
