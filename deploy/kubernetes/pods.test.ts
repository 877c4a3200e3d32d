import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { beforeAll, expect, test } from 'vitest';
import { type Container, ofKind, type Selector, workloadsOf } from './checks/manifests.ts';
import { serviceOf } from './checks/settings.ts';
import { selects } from './connections.fixture.ts';
import { buildOverlays, overlays } from './overlays.fixture.ts';

interface ScalerSpec {
  readonly scaleTargetRef: { readonly kind?: string; readonly name: string };
  readonly minReplicaCount?: number;
  readonly triggers?: readonly { readonly metadata: { readonly query: string } }[];
}
interface MonitorSpec {
  readonly selector: Selector;
  readonly endpoints?: readonly { readonly port: string }[];
  readonly podMetricsEndpoints?: readonly { readonly port: string }[];
}

const podContext = {
  runAsNonRoot: true,
  runAsUser: 10001,
  runAsGroup: 10001,
  fsGroup: 10001,
  seccompProfile: { type: 'RuntimeDefault' },
};
const containerContext = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

await describeWithOpsCheckers('Kubernetes: pods', ['kustomize'], () => {
  let built: Awaited<ReturnType<typeof buildOverlays>>;
  beforeAll(async () => {
    built = await buildOverlays();
  });

  // The level `restricted` of the Pod Security Standards, which the namespace enforces, and our own rules: the images' user, a read-only
  // root, no token of the API server, and no variables about Services.
  test.each(overlays)('%s: pods have no rights that they do not need', (overlay) => {
    for (const { pod } of workloadsOf(built[overlay].manifests)) {
      const { fsGroupChangePolicy: _, ...context } = pod.securityContext ?? {};
      expect(context).toEqual(podContext);
      expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
      for (const namespace of ['hostNetwork', 'hostPID', 'hostIPC']) expect(pod).not.toHaveProperty(namespace);
      const sources = (pod.volumes ?? []).flatMap(({ name: _name, ...source }) => Object.keys(source));
      expect(['configMap', 'emptyDir', 'persistentVolumeClaim', 'secret']).toEqual(expect.arrayContaining(sources));
      for (const { securityContext, ports = [] } of [...(pod.initContainers ?? []), ...pod.containers]) {
        expect(securityContext).toEqual(containerContext);
        for (const port of ports) expect(port).not.toHaveProperty('hostPort');
      }
    }
  });

  // Liveness must not depend on Redis or the store: their outage would restart the process.
  test.each(overlays)(
    '%s: every container has probes at its own ports, and the liveness of services is their own',
    (overlay) => {
      for (const { kind, pod } of workloadsOf(built[overlay].manifests).filter((each) => each.kind !== 'CronJob'))
        for (const container of pod.containers) {
          const probes = probesOf(container);
          expect(probes).not.toContain(undefined);
          const names = (container.ports ?? []).map(({ name }) => name);
          const ports = probes.flatMap((probe) => (probe?.httpGet ?? probe?.tcpSocket)?.port ?? []);
          expect(names, kind).toEqual(expect.arrayContaining(ports));
          if (!serviceOf(container)) continue;
          const paths = probes.map((probe) => `${probe?.httpGet?.port}${probe?.httpGet?.path}`);
          expect(paths).toEqual(['ops/livez', 'ops/readyz', 'ops/livez']);
        }
    },
  );

  test.each(overlays)(
    '%s: selectors of a workload are for its own pods, and each replicated service is spread',
    (overlay) => {
      for (const { kind, labels, pod, selector } of workloadsOf(built[overlay].manifests)) {
        const spread = pod.topologySpreadConstraints ?? [];
        if (kind === 'Deployment' && pod.containers.some(serviceOf)) expect(spread).not.toEqual([]);
        for (const own of [selector ?? {}, ...spread.map(({ labelSelector }) => labelSelector)])
          expect(labels).toSatisfy((each: typeof labels) => selects(own, each));
      }
    },
  );

  test.each(overlays)('%s: the number of replicas has one source, which keeps at least one', (overlay) => {
    const { manifests } = built[overlay];
    const scalers = ['HorizontalPodAutoscaler', 'ScaledObject'].flatMap((kind) => ofKind<ScalerSpec>(manifests, kind));
    const scaled = scalers.map(
      ({
        spec: {
          scaleTargetRef: { kind = 'Deployment', name },
        },
      }) => `${kind} ${name}`,
    );
    const fixed = workloadsOf(manifests).filter(({ replicas }) => replicas !== undefined);
    const replicated = workloadsOf(manifests).filter(({ kind }) => kind !== 'CronJob');
    const title = ({ kind, name }: { readonly kind: string; readonly name: string }) => `${kind} ${name}`;
    expect([...scaled, ...fixed.map(title)].sort()).toEqual(replicated.map(title).sort());
    for (const { spec } of ofKind<ScalerSpec>(manifests, 'ScaledObject')) {
      expect(spec.minReplicaCount).toBeGreaterThanOrEqual(1);
      // Every gateway reports the same queues: a sum would count them several times.
      for (const { metadata } of spec.triggers ?? []) expect(metadata.query).toMatch(/^max(\(max)? by \(queue\) /);
    }
  });

  test.each(overlays)('%s: Redis and the store displace services, which displace background work', (overlay) => {
    const { manifests } = built[overlay];
    const values = new Map(manifests.map(({ metadata, value }) => [metadata.name, value]));
    for (const { name, pod } of workloadsOf(manifests)) {
      const ofService = ['rendition-worker', 'sweeper'].includes(name) ? 0 : 1000;
      const value = pod.containers.some(serviceOf) ? ofService : 2000;
      expect({ name, value: values.get(pod.priorityClassName ?? '') }).toEqual({ name, value });
    }
  });

  test('large: Prometheus finds the metrics of every service', () => {
    const { manifests } = built.large;
    const pods = workloadsOf(manifests).map(({ name, labels, pod }) => ({
      name,
      labels,
      ports: pod.containers.flatMap(({ ports = [] }) => ports),
    }));
    const services = ofKind<{ ports: readonly { name: string }[] }>(manifests, 'Service').map(({ metadata, spec }) => ({
      name: metadata.name,
      labels: metadata.labels ?? {},
      ports: spec.ports,
    }));
    const foundBy = (kind: string, targets: typeof pods | typeof services) =>
      ofKind<MonitorSpec>(manifests, kind).flatMap(({ spec }) =>
        (spec.endpoints ?? spec.podMetricsEndpoints ?? []).flatMap(({ port }) =>
          targets
            .filter(({ labels, ports }) => selects(spec.selector, labels) && ports.some(({ name }) => name === port))
            .map(({ name }) => name),
        ),
      );
    const withMetrics = pods.filter(({ ports }) => ports.some(({ name }) => name === 'ops')).map(({ name }) => name);
    // A Service leads to the workload of its name (connections.test.ts).
    expect([...foundBy('ServiceMonitor', services), ...foundBy('PodMonitor', pods)].sort()).toEqual(withMetrics.sort());
  });
});

function probesOf({ startupProbe, readinessProbe, livenessProbe }: Container) {
  return [startupProbe, readinessProbe, livenessProbe];
}
