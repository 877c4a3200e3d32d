import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { expect, test } from 'vitest';
import { buildOverlay, checkManifests, overlayFolder } from './check-manifests.ts';
import type { Manifest } from './manifests.ts';

type Json = string | number | boolean | undefined | readonly Json[] | { readonly [key: string]: Json };

/** The expected fault, a manifest (`kind/name`), a path in it, and a wrong value (undefined: removed). */
type Mistake = readonly [fault: string, manifest: string, path: string, value: Json];

const pod = 'spec.template.spec';
const container = `${pod}.containers.0`;

const mistakes: Record<string, readonly Mistake[]> = {
  settings: [
    ['gateway: knows no setting UPLOAD_BUFER_BYTES', 'ConfigMap/gateway', 'data.UPLOAD_BUFER_BYTES', '1'],
    ['site: knows no setting SITE_TITLE', 'ConfigMap/site', 'data.SITE_TITLE', 'x'],
    [
      'sweeper: knows no setting LOG_LEVL',
      'CronJob/sweeper',
      'spec.jobTemplate.spec.template.spec.containers.0.env.2',
      { name: 'LOG_LEVL', value: 'info' },
    ],
    ['gateway: UPLOAD_BUFFER_BYTES must be a whole number', 'ConfigMap/gateway', 'data.UPLOAD_BUFFER_BYTES', '256Mi'],
    ['auth-verifier: IDENTITY_PROVIDERS is required', 'ConfigMap/auth-verifier', 'data.IDENTITY_PROVIDERS', undefined],
    ['probe-worker: S3_ENDPOINT is required', 'ConfigMap/store', 'data.S3_ENDPOINT', undefined],
    ['gateway: API_KEYS is required', 'Deployment/gateway', `${container}.env.6`, { name: 'LOG_LEVEL', value: 'info' }],
    [
      'gateway: LOG_LEVEL is set twice',
      'Deployment/gateway',
      `${container}.env.6`,
      { name: 'LOG_LEVEL', value: 'info' },
    ],
    ['gateway: LOG_LEVEL is set twice', 'ConfigMap/store', 'data.LOG_LEVEL', 'info'],
    ['gateway: VERIFIER_URL is set twice', 'ConfigMap/gateway', 'data.VERIFIER_URL', 'http://auth-verifier:8082'],
    [
      'gateway: no secret is mounted at /run/secrets/echodrop/API_KEYS',
      'Deployment/gateway',
      `${pod}.volumes.1.secret.items.5`,
      { key: 'x', path: 'x' },
    ],
    ['site: there is no ConfigMap nothing', 'Deployment/site', `${container}.envFrom.0.configMapRef.name`, 'nothing'],
    ['not used', 'Deployment/site', `${container}.envFrom.3.configMapRef.name`, 'nothing'],
  ],
  ports: [
    ['gateway: http is not PORT', 'ConfigMap/gateway', 'data.PORT', '8000'],
    ['site: ops is not OPS_PORT', 'Deployment/site', `${container}.ports.1.containerPort`, 9080],
    ['gateway: listens on loopback only', 'ConfigMap/every-process', 'data.HOST', '127.0.0.1'],
    ['site: lacks a probe', 'Deployment/site', `${container}.livenessProbe`, undefined],
    ['store: a probe uses http', 'StatefulSet/store', `${container}.readinessProbe.httpGet.port`, 'http'],
    [
      'gateway: probes use ops/livez,ops/readyz,ops/readyz',
      'Deployment/gateway',
      `${container}.livenessProbe.httpGet.path`,
      '/readyz',
    ],
    [
      'gateway: no Service is at http://verifier:8082',
      'Deployment/gateway',
      `${container}.env.0.value`,
      'http://verifier:8082',
    ],
    ['sweeper: no Service is at http://store:9001', 'ConfigMap/store', 'data.S3_ENDPOINT', 'http://store:9001'],
    ['Service gateway: 8080 does not lead to https', 'Service/gateway', 'spec.ports.0.targetPort', 'https'],
    [
      'Ingress site: its backend does not exist',
      'Ingress/site',
      'spec.rules.0.http.paths.0.backend.service.port.name',
      'web',
    ],
    [
      'Ingress site: there is no middleware echodrop-rate@kubernetescrd',
      'Ingress/site',
      'metadata.annotations',
      { 'traefik.ingress.kubernetes.io/router.middlewares': 'echodrop-rate@kubernetescrd' },
    ],
  ],
  selectors: [
    ['Service site selects no pods', 'Service/site', 'spec.selector', { 'app.kubernetes.io/name': 'sight' }],
    [
      'PodDisruptionBudget site selects no pods',
      'PodDisruptionBudget/site',
      'spec.selector.matchLabels',
      { 'app.kubernetes.io/name': 'x' },
    ],
    [
      'site has no budget',
      'PodDisruptionBudget/site',
      'spec.selector.matchLabels',
      { 'app.kubernetes.io/name': 'gateway' },
    ],
    [
      'NetworkPolicy to-store selects no pods',
      'NetworkPolicy/to-store',
      'spec.podSelector',
      { matchLabels: { a: 'b' } },
    ],
    [
      'NetworkPolicy to-store, a peer, selects no pods',
      'NetworkPolicy/to-store',
      'spec.egress.0.to.0.podSelector',
      { matchLabels: { a: 'b' } },
    ],
    ['NetworkPolicy to-store is for every peer', 'NetworkPolicy/to-store', 'spec.egress.0.to', undefined],
    ['site does not select its own pods', 'Deployment/site', 'spec.selector.matchLabels', { a: 'b' }],
    [
      'site spreads other pods',
      'Deployment/site',
      `${pod}.topologySpreadConstraints.0.labelSelector.matchLabels`,
      { a: 'b' },
    ],
    ['site is not spread', 'Deployment/site', `${pod}.topologySpreadConstraints`, []],
    ['the replicas of site are set 2 times', 'Deployment/site', 'spec.replicas', 2],
    ['the replicas of gateway are set 0 times', 'HorizontalPodAutoscaler/gateway', 'spec.scaleTargetRef.name', 'gate'],
  ],
  network: [
    ['pods without a policy are open', 'NetworkPolicy/nothing-else', 'spec.policyTypes', ['Ingress']],
    [
      'pods without a policy are open',
      'NetworkPolicy/nothing-else',
      'spec.podSelector',
      { matchLabels: { 'app.kubernetes.io/name': 'site' } },
    ],
    [
      '0.0.0.0/0 reaches 169.254.169.254',
      'NetworkPolicy/verifier-to-providers',
      'spec.egress.0.to.0.ipBlock.except.4',
      '198.51.100.0/24',
    ],
    ['0.0.0.0/0 reaches 10.0.0.1', 'NetworkPolicy/verifier-to-providers', 'spec.egress.0.to.0.ipBlock.except', []],
    ['::/0 reaches fd00:ec2::254', 'NetworkPolicy/verifier-to-providers', 'spec.egress.0.to.1.ipBlock.cidr', '::/0'],
  ],
  'pod security': [
    ['site: has another security context', 'Deployment/site', `${pod}.securityContext.runAsNonRoot`, false],
    ['site/site: has another security context', 'Deployment/site', `${container}.securityContext.privileged`, true],
    [
      'site/site: has another security context',
      'Deployment/site',
      `${container}.securityContext.allowPrivilegeEscalation`,
      undefined,
    ],
    [
      'site/site: has another security context',
      'Deployment/site',
      `${container}.securityContext.capabilities.drop`,
      ['NET_RAW'],
    ],
    [
      'site: has another security context',
      'Deployment/site',
      `${pod}.securityContext.seccompProfile.type`,
      'Unconfined',
    ],
    ['site/site: takes a port of the host', 'Deployment/site', `${container}.ports.0.hostPort`, 80],
    ["site: uses the host's namespaces", 'Deployment/site', `${pod}.hostNetwork`, true],
    [
      'site: has another security context',
      'Deployment/site',
      `${pod}.securityContext.sysctls`,
      [{ name: 'kernel.msgmax', value: '1' }],
    ],
    ['site: has a token of the API server', 'Deployment/site', `${pod}.automountServiceAccountToken`, undefined],
    ['site: has variables about Services', 'Deployment/site', `${pod}.enableServiceLinks`, undefined],
    [
      'site: the volume tmp is a hostPath',
      'Deployment/site',
      `${pod}.volumes.0`,
      { name: 'tmp', hostPath: { path: '/' } },
    ],
    [
      'sweeper/sweeper: has another security context',
      'CronJob/sweeper',
      'spec.jobTemplate.spec.template.spec.containers.0.securityContext.readOnlyRootFilesystem',
      false,
    ],
  ],
  resources: [
    ['site/site: memory is not requested', 'Deployment/site', `${container}.resources.requests.memory`, undefined],
    ['site/site: cpu is not requested, not limited', 'Deployment/site', `${container}.resources.limits.cpu`, undefined],
    ['cache-redis/redis: memory is not requested', 'Deployment/cache-redis', `${container}.resources`, undefined],
    ['gateway: a limit of 1024 MiB is below', 'ConfigMap/gateway', 'data.UPLOAD_BUFFER_BYTES', '1073741824'],
    ['probe-worker: a limit of 3072 MiB is below', 'ConfigMap/probe-worker', 'data.FILM_CONCURRENCY', '4'],
    ['rendition-worker: a limit of 17408 MiB is below', 'ConfigMap/rendition-worker', 'data.CONCURRENCY', '2'],
    [
      'queue-redis/redis: a limit of 512 MiB is below',
      'StatefulSet/queue-redis',
      `${container}.resources.limits.memory`,
      '512Mi',
    ],
    ['rendition-worker: scratch is too small', 'ConfigMap/gateway', 'data.MAX_MEDIA_BYTES', '4294967296'],
  ],
  priorities: [
    ['site has no priority', 'Deployment/site', `${pod}.priorityClassName`, undefined],
    ['site has no priority', 'Deployment/site', `${pod}.priorityClassName`, 'system'],
    ['site cannot displace rendition-worker', 'PriorityClass/echodrop-serving', 'value', 0],
    ['store cannot displace auth-verifier', 'StatefulSet/store', `${pod}.priorityClassName`, 'echodrop-serving'],
  ],
  'cluster size': [
    ['cannot start store', 'StatefulSet/store', `${container}.resources.requests.memory`, '4Gi'],
    ['cannot start rendition-worker', 'Deployment/rendition-worker', `${container}.resources.requests.cpu`, '1800m'],
    ['cannot start gateway', 'Deployment/gateway', `${container}.resources.requests.memory`, '3100Mi'],
  ],
  times: [
    ['gateway is killed before it may have stopped', 'ConfigMap/gateway', 'data.SHUTDOWN_GRACE_SECONDS', '1900'],
    ['site is killed before it may have stopped', 'Deployment/site', `${pod}.terminationGracePeriodSeconds`, undefined],
    ['site closes connections that a proxy may still use', 'ConfigMap/site', 'data.SHUTDOWN_DELAY_SECONDS', '5'],
    ['probe-worker aborts its longest request or job', 'ConfigMap/probe-worker', 'data.SHUTDOWN_GRACE_SECONDS', '20'],
    ['store is killed while it writes', 'StatefulSet/store', `${pod}.terminationGracePeriodSeconds`, 20],
  ],
  images: [
    ['has no fixed tag', 'Deployment/site', `${container}.image`, 'echodrop/site:latest'],
    ['has no fixed tag', 'Deployment/site', `${container}.image`, 'echodrop/site'],
    ['is not of release', 'Deployment/site', `${container}.image`, 'registry.example:5000/echodrop/site:9.9.9'],
    ['is not built by this repository', 'Deployment/site', `${container}.image`, 'echodrop/sight:0.1.0'],
    [
      'is not the one that Compose uses',
      'StatefulSet/store',
      `${container}.image`,
      'minio/minio:RELEASE.2025-01-01T00-00-00Z',
    ],
  ],
};

const mistakesOfLarge: readonly Mistake[] = [
  ['ServiceMonitor services finds no port metrics', 'ServiceMonitor/services', 'spec.endpoints.0.port', 'metrics'],
  [
    'ServiceMonitor services finds no port ops',
    'ServiceMonitor/services',
    'spec.selector',
    { matchLabels: { a: 'b' } },
  ],
  ['PodMonitor workers finds no port metrics', 'PodMonitor/workers', 'spec.podMetricsEndpoints.0.port', 'metrics'],
  [
    'rendition-worker is not monitored',
    'PodMonitor/workers',
    'spec.selector.matchExpressions.0.values',
    ['probe-worker'],
  ],
  ['the replicas of probe-worker are set 0 times', 'ScaledObject/probe-worker', 'spec.scaleTargetRef.name', 'prober'],
  ['the replicas of probe-worker are set 2 times', 'Deployment/probe-worker', 'spec.replicas', 1],
  ['ScaledObject probe-worker, scales to zero', 'ScaledObject/probe-worker', 'spec.minReplicaCount', 0],
  [
    'gateways are not aggregated',
    'ScaledObject/probe-worker',
    'spec.triggers.0.metadata.query',
    'sum(echodrop_queue_waiting_jobs{queue="probe-photos"})',
  ],
];

await describeWithOpsCheckers('faults of manifests are reported', ['kustomize'], () => {
  const built = { small: buildOverlay(overlayFolder('small')), large: buildOverlay(overlayFolder('large')) };
  const all = { ...mistakes, 'monitoring and KEDA': mistakesOfLarge };

  test.for(Object.keys(all) as (keyof typeof all)[])('%s', async (area) => {
    const { manifests } = await built[area === 'monitoring and KEDA' ? 'large' : 'small'];
    const unreported = (all[area] ?? [])
      .map((mistake) => ({ mistake, reported: checkManifests(withMistake(manifests, mistake)) }))
      .filter(({ mistake: [fault], reported }) => !reported.some((each) => each.includes(fault)));
    expect(unreported).toEqual([]);
  });
});

function withMistake(manifests: readonly Manifest[], [, manifest, path, value]: Mistake): Manifest[] {
  const [kind = '', name = ''] = manifest.split('/');
  // Names of generated manifests end with a hash.
  const isTarget = (each: Manifest) =>
    each.kind === kind && new RegExp(`^${name}(-[a-z0-9]{10})?$`).test(each.metadata.name);
  expect(manifests.filter(isTarget)).toHaveLength(1);
  return manifests.map((each) => (isTarget(each) ? changed(structuredClone(each), path, value) : each));
}

function changed<T extends object>(whole: T, path: string, value: Json): T {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const inner = keys.reduce<Record<string, unknown>>(
    (at, key) => at[key] as Record<string, unknown>,
    whole as Record<string, unknown>,
  );
  if (value === undefined) delete inner[last];
  else inner[last] = value;
  return whole;
}
