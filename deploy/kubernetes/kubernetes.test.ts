import { readdirSync, readFileSync } from 'node:fs';
import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { serviceNames } from '../local/services.ts';
import { makeSecrets, queueRedisOfHa } from '../made-secrets.fixture.ts';
import { buildOverlay, checkManifests, overlayFolder } from './checks/check-manifests.ts';
import { type Manifest, workloadsOf } from './checks/manifests.ts';
import { connectionsBetween, connectionsIn, connectionsOut } from './checks/network.ts';
import { prometheusRule, prometheusRuleFile } from './prometheus-rule.ts';

const overlays = ['small', 'ha', 'large'] as const;
type Built = Awaited<ReturnType<typeof buildOverlay>>;
const workers = ['probe-worker', 'rendition-worker'];

await describeWithOpsCheckers('Kubernetes', ['kustomize', 'kubeconform'], () => {
  let built: Record<(typeof overlays)[number], Built>;
  beforeAll(async () => {
    const [small, ha, large] = await Promise.all([
      buildOverlay(overlayFolder('small')),
      buildOverlay(overlayFolder('ha')),
      buildOverlay(overlayFolder('large')),
    ]);
    built = { small, ha, large };
  });

  test.for(overlays)('%s: has no faults', async (overlay) => {
    const { yaml, manifests } = built[overlay];
    await execa('kubeconform', ['-strict', '-summary', '-'], { input: yaml });
    expect(checkManifests(manifests)).toEqual([]);
    const secrets = secretsUsed(manifests);
    await using made = await makeSecrets(overlay === 'ha' ? { QUEUE_REDIS_ADDRESS: queueRedisOfHa } : {});
    const names = readdirSync(made.folder);
    expect(secrets.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('small: allows only these connections between pods, and only the verifier may leave the cluster', () => {
    expect(connectionsBetween(built.small.manifests).sort()).toEqual([
      'auth-verifier -> cache-redis:6379',
      'gateway -> auth-verifier:8082',
      'gateway -> cache-redis:6379',
      'gateway -> queue-redis:6379',
      'gateway -> store:9000',
      ...workers.flatMap((worker) => [`${worker} -> queue-redis:6379`, `${worker} -> store:9000`]),
      'site -> queue-redis:6379',
      'site -> store:9000',
      'sweeper -> store:9000',
    ]);
    expect(connectionsOut(built.small.manifests)).toEqual([
      'auth-verifier -> 0.0.0.0/0:443',
      'auth-verifier -> 2000::/3:443',
    ]);
  });

  test('ha: allows these connections besides, for the sentinels and between the pods of Redis and of the store', () => {
    const before = connectionsBetween(built.small.manifests);
    const added = connectionsBetween(built.ha.manifests).filter((connection) => !before.includes(connection));
    expect(added.sort()).toEqual([
      'gateway -> queue-redis:26379',
      'probe-worker -> queue-redis:26379',
      'queue-redis -> queue-redis:26379',
      'queue-redis -> queue-redis:6379',
      'rendition-worker -> queue-redis:26379',
      'site -> queue-redis:26379',
      'store -> store:9000',
    ]);
    expect(connectionsOut(built.ha.manifests)).toEqual(connectionsOut(built.small.manifests));
  });

  test.each(overlays)(
    '%s: allows the Ingress controller to reach only gateway and site, and Prometheus the ops ports',
    (overlay) => {
      const { manifests } = built[overlay];
      expect(connectionsIn(manifests).sort()).toEqual([
        ...['auth-verifier', 'gateway', ...workers, 'site'].map((name) => `monitoring -> ${name}:9080-9084`),
        'traefik -> gateway:8080',
        'traefik -> site:8081',
      ]);
    },
  );

  test.each(overlays)(
    '%s: a busy node has five minutes for a start, a drain waits for replacements, and the sweeper runs',
    (overlay) => {
      const { manifests } = built[overlay];
      const containers = workloadsOf(manifests).flatMap(({ pod }) => pod.containers);
      const starts = containers.flatMap(({ startupProbe }) => startupProbe ?? []);
      expect(starts.length).toBeGreaterThanOrEqual(containers.length - 1);
      for (const { failureThreshold = 0, periodSeconds = 10 } of starts)
        expect(failureThreshold * periodSeconds).toBeGreaterThanOrEqual(300);
      const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget');
      const guarded = [
        ...serviceNames.filter((name) => name !== 'sandbox-provider'),
        ...(overlay === 'ha' ? ['queue-redis', 'store'] : []),
      ];
      expect(budgets.map(({ metadata }) => metadata.name).sort()).toEqual(guarded.sort());
      expect(budgets).toEqual(
        budgets.map(() => expect.objectContaining({ spec: expect.objectContaining({ maxUnavailable: 1 }) })),
      );
      const jobs = manifests.filter(({ kind }) => kind === 'CronJob');
      expect(jobs).toEqual([expect.not.objectContaining({ spec: expect.objectContaining({ suspend: true }) })]);
    },
  );

  test('large: allows connections to Redis and the store, and only the verifier may reach other networks', () => {
    expect(connectionsBetween(built.large.manifests)).toEqual(['gateway -> auth-verifier:8082']);
    const redis = '192.0.2.0/25:6379,26379';
    const store = '192.0.2.128/25:443';
    const expected = {
      gateway: [redis, redis, store],
      site: [redis, store],
      'auth-verifier': [redis, '0.0.0.0/0:443', '2000::/3:443'],
      'probe-worker': [redis, store],
      'rendition-worker': [redis, store],
      sweeper: [store],
    };
    expect(connectionsOut(built.large.manifests).sort()).toEqual(
      Object.entries(expected)
        .flatMap(([name, networks]) => networks.map((network) => `${name} -> ${network}`))
        .sort(),
    );
  });
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
