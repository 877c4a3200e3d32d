import { describeWithOpsCheckers } from '@echodrop/testkit/describe-with-ops-checkers';
import { beforeAll, expect, test } from 'vitest';
import type { Manifest } from './checks/manifests.ts';
import {
  connectionsBetween,
  connectionsIn,
  connectionsOut,
  privateAddressesIn,
  servicesIn,
} from './connections.fixture.ts';
import { buildOverlays, overlays } from './overlays.fixture.ts';

const workers = ['probe-worker', 'rendition-worker'];

await describeWithOpsCheckers('Kubernetes: connections', ['kustomize'], () => {
  let built: Awaited<ReturnType<typeof buildOverlays>>;
  beforeAll(async () => {
    built = await buildOverlays();
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

  test.each(overlays)('%s: lets no pod reach private addresses in the internet of the providers', (overlay) => {
    expect(privateAddressesIn(built[overlay].manifests)).toEqual([]);
  });

  test('Services lead to the ports of their pods', () => {
    const addressesIn = ({ manifests }: { readonly manifests: readonly Manifest[] }) => servicesIn(manifests).sort();
    const toItself = (address: string) => `${address} -> ${address}`;
    const ofServices = ['auth-verifier:8082', 'gateway:8080', 'site:8081'].flatMap((address) =>
      [address, address.replace(':80', ':90')].map(toItself),
    );
    const ofSmall = [...ofServices, ...['cache-redis:6379', 'store:9000'].map(toItself)];
    const ofPods = [0, 1, 2].flatMap((n) => [
      ...[6379, 26379].map((port) => `queue-${n}:${port} -> queue-redis:${port}`),
      `store-${n}:9000 -> store:9000`,
    ]);
    expect(addressesIn(built.large)).toEqual(ofServices.sort());
    expect(addressesIn(built.small)).toEqual([...ofSmall, toItself('queue-redis:6379')].sort());
    expect(addressesIn(built.ha)).toEqual([...ofSmall, ...ofPods].sort());
  });

  test.each(overlays)('%s: Ingresses lead to the gateway and the site', (overlay) => {
    expect(built[overlay].manifests.filter(({ kind }) => kind === 'Ingress')).toMatchObject(
      Object.entries({ gateway: 'upload.example', site: 'media.example' }).map(([name, host]) => ({
        metadata: { name },
        spec: { rules: [{ host, http: { paths: [{ backend: { service: { name, port: { name: 'http' } } } }] } }] },
      })),
    );
  });

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
