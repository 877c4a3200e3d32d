import { expect } from 'vitest';
import { expectAllShown } from '../containers/intact.ts';
import type { Load } from '../containers/load.ts';
import type { Cluster } from './cluster.ts';
import type { DeployedSystem } from './deployed-system.ts';
import { commandsOf } from './page-commands.ts';

// A node of MinIO that returns does not find at once what was written without it.
const healingMs = 30_000;

/** Ends the load. Expects page and picture of each acknowledged upload, and of every stored upload all bytes. */
export async function expectNoneLost(cluster: Cluster, system: DeployedSystem, load: Load): Promise<void> {
  await load[Symbol.asyncDispose]();
  const { acknowledged } = load;
  expect(acknowledged.length).toBeGreaterThan(0);
  await expectAllShown(system, acknowledged, healingMs);
  const runTask = await commandsOf('host/kubernetes-tasks', cluster);
  const checked = await runTask('jq', { '["list"]': '["verify-store", "--bytes"]' });
  expect(checked).toMatch(/^Checked \d+ records/m);
  expect(checked).not.toMatch(/FAULT: (media|record)/);
}
