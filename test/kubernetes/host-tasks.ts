import { expect } from 'vitest';
import type { Cluster } from './cluster.ts';
import { makeCertificates } from './host-page.ts';
import { commandsOf, placesIn } from './page-commands.ts';

/** Follows "Restore" of docs/host/kubernetes-tasks.md after the page of the first upload: a backup, and a new installation with its copy. */
export async function restoreIntoNewInstallation(cluster: Cluster, folder: string): Promise<void> {
  const { kubectl } = cluster;
  const places = placesIn(folder);
  const runPage = await commandsOf('host/kubernetes', cluster, places);
  const runTask = await commandsOf('host/kubernetes-tasks', cluster, places);
  const ready = (name: string) => kubectl('rollout', 'status', name, '--timeout=9m');

  await runTask('"suspend":true');
  expect(await runTask('copy-objects')).not.toContain('It failed');
  await kubectl('delete', 'namespace', 'echodrop', '--timeout=9m');
  await runPage('deploy/make-secrets');
  await makeCertificates(folder, kubectl);
  await kubectl('apply', '--kustomize', places['deploy/kubernetes/overlays/mine']);
  await runTask('"suspend":true');
  await ready('statefulset/store');
  expect(await runTask('copy-objects', { 'back-up': 'restore' })).not.toContain('It failed');
  await runTask('"suspend":false');
  for (const name of ['gateway', 'site']) await ready(`deployment/${name}`);
  expect(await runTask('jq', { '["list"]': '["rebuild-listings"]' })).toMatch(/^admin +Complete/m);
  const checked = await runTask('jq', { '["list"]': '["verify-store", "--moved", "--bytes"]' });
  expect(checked).toMatch(/^Checked 1 records?/m);
  expect(checked).not.toMatch(/FAULT/);
}
