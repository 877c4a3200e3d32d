import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { expect, test } from 'vitest';
import { checkClusterSize } from '../cluster-size.fixture.ts';
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
  'ports and addresses': [
    ['gateway: http is not PORT', 'ConfigMap/gateway', 'data.PORT', '8000'],
    ['site: ops is not OPS_PORT', 'Deployment/site', `${container}.ports.1.containerPort`, 9080],
    ['gateway: listens on loopback only', 'ConfigMap/every-process', 'data.HOST', '127.0.0.1'],
    [
      'gateway: no Service is at http://verifier:8082',
      'Deployment/gateway',
      `${container}.env.0.value`,
      'http://verifier:8082',
    ],
    ['sweeper: no Service is at http://store:9001', 'ConfigMap/store', 'data.S3_ENDPOINT', 'http://store:9001'],
  ],
  resources: [
    ['site/site: memory is not requested', 'Deployment/site', `${container}.resources.requests.memory`, undefined],
    ['site/site: cpu is not requested, not limited', 'Deployment/site', `${container}.resources.limits.cpu`, undefined],
    ['cache-redis/redis: memory is not requested', 'Deployment/cache-redis', `${container}.resources`, undefined],
    ['gateway: a limit of 1024 MiB is below', 'ConfigMap/gateway', 'data.UPLOAD_BUFFER_BYTES', '1073741824'],
    ['probe-worker: a limit of 3072 MiB is below', 'ConfigMap/probe-worker', 'data.CONCURRENCY', '16'],
    ['rendition-worker: a limit of 17408 MiB is below', 'ConfigMap/rendition-worker', 'data.CONCURRENCY', '2'],
    [
      'queue-redis/redis: a limit of 512 MiB is below',
      'StatefulSet/queue-redis',
      `${container}.resources.limits.memory`,
      '512Mi',
    ],
    ['rendition-worker: scratch is too small', 'ConfigMap/gateway', 'data.MAX_MEDIA_BYTES', '4294967296'],
  ],
  'cluster size': [
    ['cannot start store', 'StatefulSet/store', `${container}.resources.requests.memory`, '4Gi'],
    ['cannot start rendition-worker', 'Deployment/rendition-worker', `${container}.resources.requests.cpu`, '1800m'],
    ['cannot start gateway', 'Deployment/gateway', `${container}.resources.requests.memory`, '3100Mi'],
  ],
  times: [
    ['gateway may be killed before it has stopped', 'ConfigMap/gateway', 'data.SHUTDOWN_GRACE_SECONDS', '1900'],
    ['site may be killed before it has stopped', 'Deployment/site', `${pod}.terminationGracePeriodSeconds`, undefined],
    ['site closes connections that a proxy may still use', 'ConfigMap/site', 'data.SHUTDOWN_DELAY_SECONDS', '5'],
    ['probe-worker aborts its longest request or job', 'ConfigMap/probe-worker', 'data.SHUTDOWN_GRACE_SECONDS', '20'],
    ['store is killed while it writes', 'StatefulSet/store', `${pod}.terminationGracePeriodSeconds`, 20],
  ],
  images: [
    ['is not of release', 'Deployment/site', `${container}.image`, 'echodrop/site:latest'],
    ['is not the one that Compose uses', 'Deployment/site', `${container}.image`, 'echodrop/site'],
    ['is not of release', 'Deployment/site', `${container}.image`, 'registry.example:5000/echodrop/site:9.9.9'],
    ['there is no service sight', 'Deployment/site', `${container}.image`, 'echodrop/sight:0.1.0'],
    [
      'is not the one that Compose uses',
      'StatefulSet/store',
      `${container}.image`,
      'minio/minio:RELEASE.2025-01-01T00-00-00Z',
    ],
  ],
};

await describeWithOpsCheckers('faults of manifests are reported', ['kustomize'], () => {
  const built = buildOverlay(overlayFolder('small'));

  test.for(Object.entries(mistakes))('%s', async ([, mistakesOfArea]) => {
    const { manifests } = await built;
    const unreported = mistakesOfArea
      .map((mistake) => ({ mistake, changed: withMistake(manifests, mistake) }))
      .map(({ mistake, changed }) => ({
        mistake,
        reported: [...checkManifests(changed), ...checkClusterSize(changed)],
      }))
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
