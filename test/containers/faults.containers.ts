import { readFile, writeFile } from 'node:fs/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ComposeSystem, startCompose } from './compose-system.ts';
import { killInTurn, stopInTurn, update } from './faults.ts';
import { expectKept } from './kept.ts';
import { Load } from './load.ts';

let system: ComposeSystem;
const loads: Load[] = [];
beforeAll(async () => {
  system = await startCompose();
  await system.compose('up', '--detach', '--no-build', '--wait', '--scale', 'probe-worker=4', '--scale', 'gateway=2');
}, 300_000);
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
});

// What clients may see, and may try again after: nothing if another does the work or no client waits for it.
const nothing: string[] = [];
const unavailable = ['503 unavailable'];
const unverified = ['401 provider_unavailable'];
const unreachable = ['0 ECONNREFUSED', '0 ECONNRESET', '0 UND_ERR_SOCKET'];
const seen: Record<string, { readonly stopped: readonly string[]; readonly killed: readonly string[] }> = {
  // A gateway takes uploads at once, and refuses those that come before it has its connections; the proxy does not check that.
  gateway: { stopped: nothing, killed: ['502 unavailable', ...unavailable] },
  'probe-worker': { stopped: nothing, killed: nothing },
  site: { stopped: nothing, killed: nothing },
  'rendition-worker': { stopped: nothing, killed: nothing },
  sweeper: { stopped: nothing, killed: nothing },
  'cache-redis': { stopped: nothing, killed: nothing },
  'auth-verifier': { stopped: unavailable, killed: unavailable },
  'sandbox-provider': { stopped: unverified, killed: unverified },
  'queue-redis': { stopped: unavailable, killed: unavailable },
  minio: { stopped: unavailable, killed: unavailable },
  proxy: { stopped: unreachable, killed: unreachable },
};

test.each(Object.keys(seen))(
  '%s is stopped and killed under load: uploads fail only as clients know how to try again',
  async (service) => {
    const may = seen[service] ?? { stopped: [], killed: [] };
    await using load = await Load.start(system);
    loads.push(load);
    await load.flows();
    const before = load.failures.splice(0);
    await stopInTurn(system, service);
    await load.flows();
    const stopped = load.failures.splice(0);
    await killInTurn(system, service);
    await load.flows();
    const killed = load.failures.splice(0);
    process.stdout.write(
      `${service}: ${load.acknowledged.length} acknowledged; stopped: ${counted(stopped)}; killed: ${counted(killed)}\n`,
    );
    expect({
      before,
      stopped: stopped.filter((failure) => !may.stopped.includes(failure)),
      killed: killed.filter((failure) => !may.killed.includes(failure)),
    }).toEqual({ before: [], stopped: [], killed: [] });
  },
  300_000,
);

test('an update by deploy/rolling-update renews what uploads and pages need, and fails none', async () => {
  const renewed = ['sandbox-provider', 'auth-verifier', 'probe-worker', 'rendition-worker', 'gateway', 'site'];
  const containers = () => Promise.all(renewed.map((service) => system.containersOf(service)));
  const before = new Set((await containers()).flat());
  await using load = await Load.start(system);
  loads.push(load);
  await load.flows();
  await withSetting('LOG_LEVEL=debug', () => update(system));
  await load.flows();
  expect(load.failures).toEqual([]);
  for (const ids of await containers()) {
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.filter((id) => before.has(id))).toEqual([]);
  }
}, 300_000);

test('an update removes the leftovers of an interrupted one', async () => {
  await system.compose('up', '--detach', '--no-build', '--no-deps', '--wait', '--scale', 'gateway=2', 'gateway');
  const before = await system.containersOf('gateway');
  await execa('docker', ['stop', before[0] ?? '']);
  await update(system, 'gateway');
  const after = await system.containersOf('gateway');
  expect([after.length, after.filter((id) => before.includes(id))]).toEqual([1, []]);
}, 300_000);

test('an update ignores and reports services of disabled profiles', async () => {
  const before = await system.containersOf('sandbox-provider');
  const updating = withSetting('COMPOSE_PROFILES=', () => update(system, 'sandbox-provider'));
  const stderr = expect.stringContaining('sandbox-provider runs, but no enabled profile has it');
  await expect(updating).rejects.toMatchObject({ exitCode: 1, stderr });
  expect(await system.containersOf('sandbox-provider')).toEqual(before);
});

test('an update whose new containers do not become healthy fails and keeps the old ones', async () => {
  const before = await system.containersOf('auth-verifier');
  await using load = await Load.start(system);
  loads.push(load);
  const updating = withSetting('LOG_LEVEL=shout', () => update(system, 'auth-verifier', 'gateway'));
  await expect(updating).rejects.toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /Update failed \(new containers unhealthy\): kept old auth-verifier; updated: none\..*LOG_LEVEL must be one of/s,
    ),
  });
  expect(await system.containersOf('auth-verifier')).toEqual(before);
  await load.flows();
  expect(load.failures).toEqual([]);
}, 300_000);

test('every upload that was acknowledged has its page, its record and its media', async () => {
  const acknowledged = loads.flatMap((load) => load.acknowledged);
  expect(acknowledged.length).toBeGreaterThan(100);
  await expectKept(system, acknowledged);
}, 600_000);

/** While `work` is done .env has a line more. */
async function withSetting(line: string, work: () => Promise<void>): Promise<void> {
  const envFile = system.env['COMPOSE_ENV_FILES'] ?? '';
  const settings = await readFile(envFile, 'utf8');
  await writeFile(envFile, `${settings}${line}\n`);
  try {
    await work();
  } finally {
    await writeFile(envFile, settings);
  }
}

function counted(failures: readonly string[]): string {
  const kinds = Map.groupBy(failures, (failure) => failure);
  return [...kinds].map(([kind, all]) => `${all.length} x ${kind}`).join(', ') || 'no failure';
}
