import { readFile, writeFile } from 'node:fs/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ComposeSystem, startCompose } from './compose-system.ts';
import { killInTurn, stopInTurn, update } from './faults.ts';
import { expectIntact } from './intact.ts';
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

// Failures that clients may see and retry: none if a replica takes over or no client waits.
const none: string[] = [];
const unavailable = ['503 unavailable'];
const unverified = ['401 provider_unavailable'];
const unreachable = ['0 ECONNREFUSED', '0 ECONNRESET', '0 UND_ERR_SOCKET'];
const allowedFailures: Record<string, { readonly stopped: readonly string[]; readonly killed: readonly string[] }> = {
  // A gateway listens before it has its connections, and refuses uploads until then; the proxy does not check readiness.
  gateway: { stopped: none, killed: ['502 unavailable', ...unavailable] },
  'probe-worker': { stopped: none, killed: none },
  site: { stopped: none, killed: none },
  'rendition-worker': { stopped: none, killed: none },
  sweeper: { stopped: none, killed: none },
  'cache-redis': { stopped: none, killed: none },
  'auth-verifier': { stopped: unavailable, killed: unavailable },
  'sandbox-provider': { stopped: unverified, killed: unverified },
  'queue-redis': { stopped: unavailable, killed: unavailable },
  minio: { stopped: unavailable, killed: unavailable },
  proxy: { stopped: unreachable, killed: unreachable },
};

test.each(Object.keys(allowedFailures))(
  '%s is stopped and killed under load: uploads fail only with retryable errors',
  async (service) => {
    const allowed = allowedFailures[service] ?? { stopped: [], killed: [] };
    await using load = await Load.start(system);
    loads.push(load);
    await load.waitForProgress();
    const before = load.failures.splice(0);
    await stopInTurn(system, service);
    await load.waitForProgress();
    const stopped = load.failures.splice(0);
    await killInTurn(system, service);
    await load.waitForProgress();
    const killed = load.failures.splice(0);
    process.stdout.write(
      `${service}: ${load.acknowledged.length} acknowledged; stopped: ${summarize(stopped)}; killed: ${summarize(killed)}\n`,
    );
    expect({
      before,
      stopped: stopped.filter((failure) => !allowed.stopped.includes(failure)),
      killed: killed.filter((failure) => !allowed.killed.includes(failure)),
    }).toEqual({ before: [], stopped: [], killed: [] });
  },
  300_000,
);

test('deploy/rolling-update replaces all services for uploads and pages without a failure', async () => {
  const updated = ['sandbox-provider', 'auth-verifier', 'probe-worker', 'rendition-worker', 'gateway', 'site'];
  const containers = () => Promise.all(updated.map((service) => system.containersOf(service)));
  const before = new Set((await containers()).flat());
  await using load = await Load.start(system);
  loads.push(load);
  await load.waitForProgress();
  await withSetting('LOG_LEVEL=debug', () => update(system));
  await load.waitForProgress();
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
  await load.waitForProgress();
  expect(load.failures).toEqual([]);
}, 300_000);

test('every acknowledged upload has its page, record and media', async () => {
  const acknowledged = loads.flatMap((load) => load.acknowledged);
  expect(acknowledged.length).toBeGreaterThan(100);
  await expectIntact(system, acknowledged);
}, 600_000);

/** Adds a line to .env during `work`. */
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

function summarize(failures: readonly string[]): string {
  const kinds = Map.groupBy(failures, (failure) => failure);
  return [...kinds].map(([kind, all]) => `${all.length} x ${kind}`).join(', ') || 'no failure';
}
