import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect } from 'vitest';
import { expectAllShown } from '../containers/intact.ts';
import type { Load } from '../containers/load.ts';
import type { Cluster } from './cluster.ts';
import type { DeployedSystem } from './deployed-system.ts';

// A node of MinIO that returns does not find at once what was written without it.
const healingMs = 10_000;

interface Job {
  metadata: object;
  spec: { backoffLimit: number; template: { spec: { containers: [{ args: string[] }]; volumes: Volume[] } } };
}
interface Volume {
  readonly secret?: { readonly items: { key: string }[] };
}

/** Expects page and picture of each acknowledged upload, and of every stored upload all bytes. */
export async function expectNoneLost(cluster: Cluster, system: DeployedSystem, { acknowledged }: Load): Promise<void> {
  expect(acknowledged.length).toBeGreaterThan(0);
  await expectAllShown(system, acknowledged, healingMs);
  const checked = await admin(cluster, 'verify-store', '--bytes');
  expect(checked).toMatch(/^Checked \d+ records/m);
  expect(checked).not.toMatch(/FAULT: (media|record)/);
}

const ended = '--output=jsonpath={.status.succeeded}{.status.failed}';

/** Runs an admin command as docs/host/kubernetes-tasks.md describes. @returns its output */
export async function admin({ kubectl, kubectlWith }: Cluster, ...words: string[]): Promise<string> {
  const name = `admin-${Date.now()}`;
  const made = await kubectl('create', 'job', '--from=cronjob/sweeper', name, '--dry-run=client', '--output=json');
  const job = JSON.parse(made) as Job;
  job.spec.backoffLimit = 0;
  const { containers, volumes } = job.spec.template.spec;
  containers[0].args = words;
  for (const item of volumes.flatMap(({ secret }) => secret?.items ?? []))
    item.key = item.key.replace('SWEEPER', 'ADMIN');
  await kubectlWith(JSON.stringify(job), 'create', '--filename=-');
  await waitUntil(`the job ${name}`, 60_000, async () => /[1-9]/.test(await kubectl('get', 'job', name, ended)));
  return kubectl('logs', `job/${name}`);
}
