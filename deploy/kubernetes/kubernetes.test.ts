import { readdirSync, readFileSync } from 'node:fs';
import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { serviceNames } from '../local/services.ts';
import { makeSecrets, queueRedisOfHa } from '../made-secrets.fixture.ts';
import { checkManifests } from './checks/check-manifests.ts';
import { type Manifest, ofKind, type Selector, workloadsOf } from './checks/manifests.ts';
import { checkClusterSize } from './cluster-size.fixture.ts';
import { selects } from './connections.fixture.ts';
import { buildOverlays, overlays } from './overlays.fixture.ts';
import { prometheusRule, prometheusRuleFile } from './prometheus-rule.ts';

interface BudgetSpec {
  readonly selector: Selector;
}
type Built = Awaited<ReturnType<typeof buildOverlays>>;

await describeWithOpsCheckers('Kubernetes', ['kustomize', 'kubeconform'], () => {
  let built: Built;
  beforeAll(async () => {
    built = await buildOverlays();
  });

  test.for(overlays)('%s: has no faults, and the smallest cluster has space for it', async (overlay) => {
    const { yaml, manifests } = built[overlay];
    await execa('kubeconform', ['-strict', '-summary', '-'], { input: yaml });
    expect([...checkManifests(manifests), ...checkClusterSize(manifests)]).toEqual([]);
    const secrets = secretsUsed(manifests);
    await using made = await makeSecrets(overlay === 'ha' ? { QUEUE_REDIS_ADDRESS: queueRedisOfHa } : {});
    const names = readdirSync(made.folder);
    expect(secrets.filter((name) => !names.includes(name))).toEqual([]);
  });

  test.each(overlays)(
    '%s: a busy node has five minutes for a start, a drain waits for replacements, and the sweeper runs',
    (overlay) => {
      const { manifests } = built[overlay];
      const containers = workloadsOf(manifests).flatMap(({ pod }) => pod.containers);
      const starts = containers.flatMap(({ startupProbe }) => startupProbe ?? []);
      expect(starts.length).toBeGreaterThanOrEqual(containers.length - 1);
      for (const { failureThreshold = 0, periodSeconds = 10 } of starts)
        expect(failureThreshold * periodSeconds).toBeGreaterThanOrEqual(300);
      const budgets = ofKind<BudgetSpec>(manifests, 'PodDisruptionBudget');
      const guarded = [
        ...serviceNames.filter((name) => name !== 'sandbox-provider'),
        ...(overlay === 'ha' ? ['queue-redis', 'store'] : []),
      ];
      const selected = budgets.flatMap(({ spec: { selector } }) =>
        workloadsOf(manifests).filter(({ labels }) => selects(selector, labels)),
      );
      expect(selected.map(({ name }) => name).sort()).toEqual(guarded.sort());
      for (const { spec } of budgets) expect(spec).toMatchObject({ maxUnavailable: 1 });
      const jobs = manifests.filter(({ kind }) => kind === 'CronJob');
      expect(jobs).toEqual([expect.not.objectContaining({ spec: expect.objectContaining({ suspend: true }) })]);
    },
  );
});

test('prometheus-rule.yaml is current (if not, run node deploy/kubernetes/prometheus-rule.ts)', () => {
  expect(readFileSync(prometheusRuleFile, 'utf8')).toBe(prometheusRule());
});

test("small: mounts every policy for the store's set-up", () => {
  const kustomization = readFileSync(`${import.meta.dirname}/../store/kustomization.yaml`, 'utf8');
  const store = readFileSync(`${import.meta.dirname}/overlays/small/store.yaml`, 'utf8');
  for (const policy of readdirSync(`${import.meta.dirname}/../store/policies`)) {
    expect(kustomization).toContain(`- policies/${policy}\n`);
    expect(store).toContain(`{ key: ${policy}, path: policies/${policy} }`);
  }
});

function secretsUsed(manifests: readonly Manifest[]): string[] {
  const volumes = workloadsOf(manifests).flatMap(({ pod }) => pod.volumes ?? []);
  return volumes.flatMap(({ secret }) => (secret?.items ?? []).map(({ key }) => key));
}
