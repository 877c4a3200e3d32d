import { readFileSync } from 'node:fs';
import { mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidSettings } from '@echodrop/service/env';
import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildOverlay } from '../checks/check-manifests.ts';
import { type Manifest, workloadsOf } from '../checks/manifests.ts';
import { connectionsIn, connectionsOut } from '../connections.fixture.ts';
import { makeOverlay } from './make-overlay.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'));
const example = readFileSync(join(import.meta.dirname, 'settings.example.env'), 'utf8');
const main = join(import.meta.dirname, 'main.ts');
const kustomizationNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];
const large = {
  OVERLAY: 'large',
  S3_ENDPOINT: 'https://s3.town.example',
  REDIS_NETWORKS: '10.1.0.0/24',
  STORE_NETWORKS: '10.3.0.0/24',
};

await describeWithOpsCheckers('an overlay made from settings', ['kustomize', 'kubeconform'], () => {
  test('the first run makes an example, from which the second makes a valid overlay, which a third leaves as it is', async () => {
    await using overlay = await newOverlay();
    expect(await makeOverlay(overlay.path)).toBe('example');
    expect(await makeOverlay(overlay.path)).toBe('made');
    const { yaml, manifests } = await buildOverlay(overlay.path);
    // The checkers have no schema of Traefik.
    await execa('kubeconform', ['-strict', '-summary', '-skip', 'Middleware', '-'], { input: yaml });
    const images = workloadsOf(manifests).flatMap(({ pod }) => pod.containers.map(({ image }) => image));
    expect(images).toContain(`registry.example/echodrop/gateway:${version}`);
    const middlewares = manifests.filter(({ kind }) => kind === 'Middleware').map(({ metadata }) => metadata.name);
    const used = manifests.flatMap(
      ({ metadata }) => metadata.annotations?.['traefik.ingress.kubernetes.io/router.middlewares']?.split(',') ?? [],
    );
    expect([...new Set(used)].sort()).toEqual(middlewares.map((name) => `echodrop-${name}@kubernetescrd`).sort());
    const first = await overlay.kustomization();
    await makeOverlay(overlay.path);
    expect(await overlay.kustomization()).toBe(first);
  });

  test('a file that cannot be read is one line of output', async () => {
    await using overlay = await newOverlay();
    const file = join(overlay.path, 'file');
    await writeFile(file, '');
    const { exitCode, stderr } = await execa(process.execPath, [main, file], { reject: false });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(/^.*: EEXIST: .*file'$/) });
  });

  describe('with many settings', () => {
    // Every service reads BUILD_REVISION, which may be any text.
    const revisions = {
      gateway: [`'Rock # Pop $1'`, 'Rock # Pop $1'],
      'probe-worker': [`"Bob's" # of Bob`, "Bob's"],
      'rendition-worker': ['0x1F', '0x1F'],
      site: [`Rock & "Pop" # of the town`, 'Rock & "Pop"'],
    } as const;
    let overlay: Awaited<ReturnType<typeof newOverlay>>;
    let manifests: Manifest[];
    beforeAll(async () => {
      overlay = await newOverlay({
        PUBLIC_SITE_URL: 'https://photos.town.example',
        UPLOAD_URL: 'https://up.town.example/media',
        INGRESS_CLASS: 'haproxy',
        INGRESS_NAMESPACE: 'edge',
        CLUSTER_ISSUER: 'town',
        MEDIA_TYPES_OFF: 'avif',
        LOG_LEVEL: 'warn',
        MAX_MEDIA_BYTES: '1048576',
        SITE_NAME: `"'quoted'"`,
      });
      const more: Record<string, string> = { 'probe-worker': 'CONCURRENCY=4\nLOG_LEVEL=debug\n' };
      for (const [service, [written]] of Object.entries(revisions))
        await writeFile(
          join(overlay.path, `${service}.env`),
          `\uFEFFBUILD_REVISION=${written}\n${more[service] ?? ''}`,
        );
      const patch = JSON.stringify([{ op: 'replace', path: '/spec/schedule', value: '5 5 * * *' }]);
      const component = {
        apiVersion: 'kustomize.config.k8s.io/v1alpha1',
        kind: 'Component',
        patches: [{ target: { kind: 'CronJob' }, patch }],
      };
      await mkdir(join(overlay.path, 'own'));
      await writeFile(join(overlay.path, 'own/kustomization.yaml'), JSON.stringify(component));
      manifests = await overlay.make();
    });
    afterAll(() => overlay[Symbol.asyncDispose]());

    test('Ingresses have the hosts of the public addresses, the class and the issuer', () => {
      const ingresses = manifests.filter(({ kind }) => kind === 'Ingress');
      expect(ingresses).toMatchObject(
        ['up.town.example', 'photos.town.example'].map((host) => ({
          metadata: { annotations: { 'cert-manager.io/cluster-issuer': 'town' } },
          spec: { ingressClassName: 'haproxy', rules: [{ host }], tls: [{ hosts: [host] }] },
        })),
      );
      expect(manifests.filter(({ kind }) => kind === 'Middleware')).toEqual([]);
      expect(connectionsIn(manifests)).toContain('edge -> gateway:8080');
    });

    test('a setting reaches every service that reads it, and pages of the site may upload', () => {
      expect(mapsWith(manifests, 'PUBLIC_UPLOAD_URL')).toEqual({ gateway: 'https://up.town.example/media' });
      expect(mapsWith(manifests, 'MEDIA_TYPES_OFF')).toEqual({
        gateway: 'avif',
        'probe-worker': 'avif',
        'rendition-worker': 'avif',
      });
      expect(mapsWith(manifests, 'MAX_MEDIA_BYTES')).toEqual({ gateway: '1048576', site: '1048576' });
      expect(mapsWith(manifests, 'CORS_ORIGINS')).toEqual({ gateway: 'https://photos.town.example' });
    });

    test("a service's own file sets its settings only, also those that all services share", () => {
      expect(mapsWith(manifests, 'CONCURRENCY')).toMatchObject({ 'probe-worker': '4', 'rendition-worker': '1' });
      expect(mapsWith(manifests, 'LOG_LEVEL')).toEqual({ 'every-process': 'warn', 'probe-worker': 'debug' });
    });

    test('values arrive as Compose reads them, also after the byte order mark of an editor', () => {
      const read = Object.entries(revisions).map(([service, [, value]]) => [service, value]);
      expect(mapsWith(manifests, 'BUILD_REVISION')).toMatchObject(Object.fromEntries(read));
      expect(mapsWith(manifests, 'SITE_NAME')).toEqual({ site: "'quoted'" });
    });

    test('own changes are a component, which stays as it is', () => {
      expect(manifests.find(({ kind }) => kind === 'CronJob')).toMatchObject({ spec: { schedule: '5 5 * * *' } });
    });

    test.for(kustomizationNames)('own changes of %s are not replaced', async (name) => {
      await using edited = await newOverlay({});
      const path = join(edited.path, name);
      const changed = `${await overlay.kustomization()}namePrefix: my-\n`;
      await writeFile(path, changed);
      await expect(makeOverlay(edited.path)).rejects.toThrow(`${name} was edited by hand`);
      expect(await readFile(path, 'utf8')).toBe(changed);
    });
  });

  test.for(['Rock#Pop', '#1', '"A" and B', ' "A" and B', "'it's'", '`a`', "'open", '$HOME', String.raw`"\t"`])(
    'a value that Compose reads otherwise is refused: %s',
    async (SITE_NAME) => {
      await using overlay = await newOverlay({ SITE_NAME });
      const line = example.split('\n').length;
      await expect(makeOverlay(overlay.path)).rejects.toThrow(
        `settings.env, line ${line}: write NAME=value on one line`,
      );
    },
  );

  test("a service's own file has no settings of the cluster", async () => {
    await using overlay = await newOverlay({});
    await writeFile(join(overlay.path, 'site.env'), 'UPLOAD_URL=https://other.example\n');
    await expect(makeOverlay(overlay.path)).rejects.toThrow('site.env: UPLOAD_URL belongs in settings.env');
  });

  test('ha: has no faults', async () => {
    await using overlay = await newOverlay({ OVERLAY: 'ha' });
    const sets = workloadsOf(await overlay.make()).filter(({ kind }) => kind === 'StatefulSet');
    expect(sets.map(({ name, replicas }) => `${name} ${replicas}`).sort()).toEqual(['queue-redis 3', 'store 3']);
  });

  test('large: may reach only the networks of Redis and the store', async () => {
    await using overlay = await newOverlay({
      OVERLAY: 'large',
      S3_ENDPOINT: 'https://s3.town.example',
      REDIS_NETWORKS: '10.1.0.0/24, 10.2.0.0/24',
      STORE_NETWORKS: '10.3.0.1/32',
    });
    expect(connectionsOut(await overlay.make()).filter((connection) => connection.startsWith('site '))).toEqual([
      ...['site -> 10.1.0.0/24:6379,26379', 'site -> 10.2.0.0/24:6379,26379', 'site -> 10.3.0.1/32:443'],
    ]);
  });

  test('large: may reach the port of S3_ENDPOINT', async () => {
    await using overlay = await newOverlay({ ...large, S3_ENDPOINT: 'http://minio.lan:9000' });
    expect(connectionsOut(await overlay.make())).toContain('sweeper -> 10.3.0.0/24:9000');
  });

  test.for([
    ['nothing reads UPLOAD_BUFER_BYTES', { UPLOAD_BUFER_BYTES: '1' }],
    ['VERDICT_REUSE was removed', { VERDICT_REUSE: 'off' }],
    ['API_KEYS is a secret, put it into the Secret echodrop-secrets', { API_KEYS: 'town=1234' }],
    ['QUEUE_REDIS_URL is a secret', { QUEUE_REDIS_URL: 'redis://queue' }],
    ['UPLOAD_URL must be an https address with a host name and without a port', { UPLOAD_URL: 'http://up.example' }],
    ['UPLOAD_URL must be an https address with a host name', { UPLOAD_URL: 'https://10.1.2.3' }],
    ['UPLOAD_URL must be an https address with a host name', { UPLOAD_URL: 'https://[fd00::1]' }],
    ['INGRESS_CLASS must be a name', { INGRESS_CLASS: '"Foo Bar!"' }],
    ['INGRESS_NAMESPACE must be a name', { INGRESS_NAMESPACE: 'Edge' }],
    ['CLUSTER_ISSUER must be a name', { CLUSTER_ISSUER: 'a/b' }],
    ['PROMETHEUS_RELEASE must be a name', { PROMETHEUS_RELEASE: "'a b c/$'" }],
    ['REDIS_NETWORKS is required if OVERLAY is large', { ...large, REDIS_NETWORKS: '' }],
    ['REDIS_NETWORKS must be comma-separated networks', { ...large, REDIS_NETWORKS: 'foo' }],
    ['STORE_NETWORKS must be comma-separated networks', { ...large, STORE_NETWORKS: '10.0.0.1' }],
    ['STORE_NETWORKS must be comma-separated networks', { ...large, STORE_NETWORKS: ',' }],
    ['STORE_NETWORKS must be comma-separated networks', { ...large, STORE_NETWORKS: '10.0.0.0/33' }],
    ['S3_ENDPOINT is required if OVERLAY is large', { ...large, S3_ENDPOINT: '' }],
    ['large includes monitoring and keda: remove COMPONENTS', { ...large, COMPONENTS: 'monitoring,keda' }],
    ['REDIS_NETWORKS, STORE_NETWORKS and S3_ENDPOINT are for large', { STORE_NETWORKS: '10.3.0.0/24' }],
    ['STORE_NETWORKS and S3_ENDPOINT are for large', { S3_ENDPOINT: 'https://s3.town.example' }],
    ['PROMETHEUS_RELEASE needs COMPONENTS=monitoring', { PROMETHEUS_RELEASE: 'stack' }],
    ['COMPONENTS=keda also needs monitoring', { COMPONENTS: 'keda' }],
    ['IDENTITY_PROVIDERS is required', { IDENTITY_PROVIDERS: '' }],
    ['ECHODROP_REGISTRY is required', { ECHODROP_REGISTRY: '' }],
    ['nothing reads constructor', { constructor: '1' }],
    ['must have different hosts', { UPLOAD_URL: 'https://media.example' }],
    ['ECHODROP_REGISTRY must be a registry', { ECHODROP_REGISTRY: 'registry.example' }],
    ['ECHODROP_REGISTRY must be a registry', { ECHODROP_REGISTRY: 'https://Registry.example/' }],
    ['auth-verifier/auth-verifier: IDENTITY_PROVIDERS', { IDENTITY_PROVIDERS: 'mastodon social.example' }],
    ['gateway may be killed before it has stopped', { SHUTDOWN_GRACE_SECONDS: '3000' }],
  ] as const)('refused: %s', async ([fault, settings]) => {
    await using overlay = await newOverlay(settings);
    const error = await makeOverlay(overlay.path).catch((reason) => reason);
    expect(error).toBeInstanceOf(InvalidSettings);
    expect(error.message).toContain(fault);
  });

  test('an overlay without settings is only checked', async () => {
    await using overlay = await newOverlay({});
    await makeOverlay(overlay.path);
    const wrong = (await overlay.kustomization()).replace('WEB_UPLOAD: "1"', 'WEB_UPLOAD: "2"');
    for (const name of kustomizationNames) {
      await using other = await newOverlay();
      await writeFile(join(other.path, name), wrong);
      await expect(makeOverlay(other.path)).rejects.toThrow('site/site: WEB_UPLOAD must be one of 0, 1');
      expect(await readdir(other.path)).toEqual([name]);
      expect(await readFile(join(other.path, name), 'utf8')).toBe(wrong);
    }
  });
});

/** A folder for one overlay, with the example's settings and these; without an argument empty. */
async function newOverlay(settings?: Readonly<Record<string, string>>) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'overlay-'));
  const lines = Object.entries(settings ?? {}).map(([name, value]) => `${name}=${value}\n`);
  if (settings) await writeFile(join(folder.path, 'settings.env'), `${example}${lines.join('')}`);
  return Object.assign(folder, {
    make: async () => {
      await makeOverlay(folder.path);
      return (await buildOverlay(folder.path)).manifests;
    },
    kustomization: () => readFile(join(folder.path, 'kustomization.yaml'), 'utf8'),
  });
}

/** The values of a setting, by the name of the ConfigMap. */
function mapsWith(manifests: readonly Manifest[], setting: string): Record<string, string> {
  const maps = manifests.filter(({ kind, data }) => kind === 'ConfigMap' && data && setting in data);
  return Object.fromEntries(
    maps.map(({ metadata, data }) => [metadata.name.replace(/-[a-z0-9]{10}$/, ''), data?.[setting] ?? '']),
  );
}
