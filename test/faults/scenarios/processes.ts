import { setTimeout as sleep } from 'node:timers/promises';
import type { StoppableServer } from '@echodrop/testkit/servers/server-process';
import { onDispose, runUntilDisposed } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';

const services = ['gateway', 'auth-verifier', 'probe-worker', 'rendition-worker', 'site'] as const;

/** Every component that others depend on. */
const all = [...services, 'sandbox-provider', 'queue-redis', 'cache-redis', 'minio'] as const;

type Part = (typeof all)[number];

const pairs: readonly (readonly [Part, Part])[] = [
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
const longerFreezes: readonly (readonly [readonly [Part, Part], number])[] = [
  [['gateway', 'queue-redis'], 30],
  [['gateway', 'minio'], 30],
  [['queue-redis', 'minio'], 30],
  [['gateway', 'queue-redis'], 90],
  [['queue-redis', 'minio'], 90],
];
const betweenMs = { least: 300, most: 1500 };

/** Kills and freezes: single components, pairs, and random choices. */
export const processScenarios: readonly Scenario[] = [
  ...all.map((part) => killed([part], 2)),
  ...pairs.map((pair) => killed(pair, 2)),
  ...freezes.flatMap((seconds) => all.map((part) => frozen([part], seconds))),
  ...pairs.map((pair) => frozen(pair, 5)),
  ...longerFreezes.map(([pair, seconds]) => frozen(pair, seconds)),
  killedAtRandom('any part', all, 90),
  { ...killedAtRandom('the gateway', ['gateway'], 7), isShort: true },
  { ...killedAtRandom('two parts at once', all, 8, 2), isShort: true },
  { ...killedAtRandom('any service beside a folder', services, 20), on: 'folder' },
  { ...frozen(['queue-redis', 'minio'], 4), name: 'freeze queue-redis and minio briefly', isShort: true },
];

function killed(parts: readonly Part[], forSeconds: number): Scenario {
  return {
    name: `kill ${parts.join(' and ')}`,
    breaks: `SIGKILL of ${parts.join(' and ')}, started again after ${forSeconds} s`,
    forSeconds,
    begin: broken(
      parts,
      (server) => server.kill(),
      (server) => server.restart(),
    ),
  };
}

function frozen(parts: readonly Part[], forSeconds: number): Scenario {
  return {
    name: `freeze ${parts.join(' and ')} ${forSeconds} s`,
    breaks: `SIGSTOP of ${parts.join(' and ')}; their sockets stay open`,
    forSeconds,
    begin: broken(
      parts,
      (server) => server.freeze(),
      (server) => server.thaw(),
    ),
  };
}

type Act = (server: StoppableServer) => Promise<unknown> | unknown;

// Breaks all parts at once, and undoes it at the end.
function broken(parts: readonly Part[], fault: Act, undo: Act): Scenario['begin'] {
  return async ({ system, broke }) => {
    const servers = parts.map((part) => serverOf(part, system));
    await Promise.all(servers.map(fault));
    broke();
    return onDispose(() => Promise.all(servers.map(undo)));
  };
}

// Frequent kills are more likely to hit each step of an upload.
function killedAtRandom(what: string, parts: readonly Part[], forSeconds: number, atOnce = 1): Scenario {
  return {
    name: `kill ${what}, again and again`,
    breaks: `SIGKILL of ${what}, started again at once, and killed again after a moment`,
    forSeconds,
    begin: async (day) => runUntilDisposed((over) => killUntil(over, day, parts, atOnce)),
  };
}

async function killUntil(over: AbortSignal, day: GameDay, parts: readonly Part[], atOnce: number): Promise<void> {
  const { system, random, broke } = day;
  while (!over.aborted) {
    const victims = random.shuffled(parts).slice(0, atOnce);
    const servers = victims.map((part) => serverOf(part, system));
    await Promise.all(servers.map((server) => server.kill()));
    broke();
    await Promise.all(servers.map((server) => server.restart()));
    await sleep(random.between(betweenMs.least, betweenMs.most), undefined, { signal: over }).catch(() => {});
  }
}

function serverOf(part: Part, { servers }: GameDay['system']): StoppableServer {
  const server = servers[part];
  if (!server) throw new Error(`there is no ${part}`);
  return server;
}
