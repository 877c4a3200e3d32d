import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '../containers/compose-system.ts';
import { Load } from '../containers/load.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { connectTo, runOutside } from './connect.ts';
import { type DeployedSystem, deploy } from './deployed-system.ts';
import { drain, nodeOf, nodeWithout, podsOf, waitForNode } from './nodes.ts';
import { expectNoneLost } from './stored.ts';

let cluster: Cluster;
let system: DeployedSystem;
beforeAll(async () => {
  cluster = await startCluster();
  system = await deploy(cluster, 'small');
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
});

test('a photo is uploaded and shown through the Services', async () => {
  const addressOf = (service: string) =>
    cluster.kubectl('get', 'service', service, '--output=jsonpath={.spec.clusterIP}');
  const gateway = `http://${await addressOf('gateway')}:8080`;
  const { status, text } = await upload({ ...system, gateway }, { media: await photo(), message: 'in a cluster' });
  expect({ status, text }).toMatchObject({ status: 200 });
  const page = await fetch(`http://${await addressOf('site')}:8081/${JSON.parse(text).id}`);
  expect(await page.text()).toContain('in a cluster');
});

describe('what is refused', () => {
  const services = [
    'store:9000',
    'queue-redis:6379',
    'cache-redis:6379',
    'auth-verifier:8082',
    'gateway:8080',
    'gateway:9080',
  ];

  test('pods of other namespaces reach no pod', async () => {
    const names = services.map((service) => service.replace(':', '.echodrop:'));
    expect(await runOutside(cluster, connectTo([...names, 'kubernetes.default:443']))).toBe('kubernetes.default:443');
  });

  test('a gateway reaches what it needs, and neither the API server nor this machine', async () => {
    const { hostname, port } = new URL(system.provider);
    const script = connectTo([...services, 'site:8081', 'kubernetes.default:443', `${hostname}:${port}`]);
    const reached = await cluster.kubectl('exec', 'deployment/gateway', '--', 'node', '-e', script);
    expect(reached.split('\n').sort()).toEqual([
      'auth-verifier:8082',
      'cache-redis:6379',
      'queue-redis:6379',
      'store:9000',
    ]);
  });

  test('containers cannot write to their root, and have no token of the API server', async () => {
    const script = 'touch /echodrop/x 2>&1; ls /var/run/secrets/kubernetes.io 2>&1; id -u';
    expect(await cluster.kubectl('exec', 'deployment/gateway', '--', 'sh', '-c', script)).toMatch(
      /Read-only file system\n.*No such file or directory\n10001$/,
    );
  });

  test('the namespace admits no privileged pod', async () => {
    const words = [`--image=echodrop/admin:${version}`, '--privileged', '--dry-run=server'];
    await expect(cluster.kubectl('run', 'privileged', ...words)).rejects.toThrow(/violates PodSecurity "restricted/);
  });
});

test('a restart of every Deployment fails no upload', async () => {
  await using load = await Load.start(system);
  await load.waitForProgress();
  await cluster.kubectl('rollout', 'restart', 'deployment');
  await system.settled();
  await load.waitForProgress();
  await waitUntil(
    'the end of the old pods',
    async () => (await podsOf(cluster)).every(({ isReady }) => isReady),
    360_000,
  );
  expect(load.failures).toEqual([]);
});

test('gateways are added under load and removed afterwards, without a failed upload', async () => {
  await using load = await Load.start(system);
  const gateways = async () =>
    (await podsOf(cluster, '--selector=app.kubernetes.io/name=gateway')).filter(({ isReady }) => isReady);
  const scale = (averageValue: string) =>
    cluster.kubectl(
      'patch',
      'hpa',
      'gateway',
      '--type=json',
      '--patch',
      JSON.stringify([
        { op: 'replace', path: '/spec/metrics/0/resource/target/averageValue', value: averageValue },
        { op: 'replace', path: '/spec/behavior/scaleDown', value: { stabilizationWindowSeconds: 0 } },
      ]),
    );
  // The load of this test is small.
  await scale('5m');
  await waitUntil('four gateways', async () => (await gateways()).length === 4, 360_000);
  expect(new Set((await gateways()).map(({ node }) => node)).size).toBe(3);
  await scale('2');
  await waitUntil('two gateways', async () => (await gateways()).length === 2, 360_000);
  await load.waitForProgress();
  expect(load.failures).toEqual([]);
});

test('workers are added and removed under load, without a failed upload or a lost job', async () => {
  await using load = await Load.start(system);
  await load.waitForProgress();
  const scaled = [
    ['--replicas=3', 'probe-worker', 'rendition-worker'],
    ['--replicas=1', 'probe-worker', 'rendition-worker'],
    ['--replicas=2', 'probe-worker'],
  ];
  for (const words of scaled) {
    await cluster.kubectl('scale', 'deployment', ...words);
    await system.settled();
    await load.waitForProgress();
  }
  expect(load.failures).toEqual([]);
  await expectNoneLost(cluster, system, load);
});

test('a drain of a node without Redis and store fails no upload, and everything can be updated on the other two', async () => {
  const node = await nodeWithout(cluster, 'store-0', 'queue-redis-0');
  await using load = await Load.start(system);
  await drain(cluster, node);
  await system.settled();
  await cluster.kubectl('rollout', 'restart', 'deployment');
  await system.settled();
  await load.waitForProgress();
  await cluster.kubectl('uncordon', node);
  expect(load.failures).toEqual([]);
});

test('a drain of the node of the store interrupts uploads for less than a minute, and loses none', async () => {
  const node = await nodeOf(cluster, 'store-0');
  await using load = await Load.start(system);
  await load.waitForProgress();
  const begun = performance.now();
  await drain(cluster, node);
  await system.settled();
  await load.waitForProgress();
  await cluster.kubectl('uncordon', node);
  expect(load.recoveryMs(begun)).toBeLessThan(60_000);
  await expectNoneLost(cluster, system, load);
});

test('after the power-off of the node of the store, a taint brings it back, and no acknowledged upload is lost', async () => {
  const node = await nodeOf(cluster, 'store-0');
  await using load = await Load.start(system);
  await load.waitForProgress();
  await cluster.powerOff(node);
  await waitForNode(cluster, node, 'NotReady');
  const taint = 'node.kubernetes.io/out-of-service';
  await cluster.kubectl('taint', 'node', node, `${taint}=nodeshutdown:NoExecute`);
  const tainted = performance.now();
  await waitUntil(
    'the store on another node',
    async () => (await podsOf(cluster)).some((pod) => pod.name === 'store-0' && pod.node !== node && pod.isReady),
    360_000,
  );
  await system.settled();
  await load.waitForProgress();
  const recoveredMs = load.recoveryMs(tainted);
  process.stdout.write(`Uploads work ${(recoveredMs / 1000).toFixed()} s after the taint\n`);
  expect(recoveredMs).toBeLessThan(120_000);
  await expectNoneLost(cluster, system, load);
  await cluster.powerOn(node);
  await waitForNode(cluster, node, 'Ready');
  await cluster.kubectl('taint', 'node', node, `${taint}-`);
});

function photo(): Promise<Buffer> {
  return samplePhoto('jpg', { width: 64, height: 48 });
}
