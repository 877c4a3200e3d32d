import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Load } from '../containers/load.ts';
import { type Cluster, nodes, startCluster } from './cluster.ts';
import { type DeployedSystem, deploy } from './deployed-system.ts';
import { drain, podsOf, waitForNode } from './nodes.ts';
import { expectNoneLost } from './stored.ts';

// Until uploads work again after a power-off.
const recoveryMs = 60_000;

let cluster: Cluster;
let system: DeployedSystem;
beforeAll(async () => {
  cluster = await startCluster();
  system = await deploy(cluster, 'ha');
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
});

test('a restart of every Deployment fails no upload', async () => {
  await using load = await Load.start(system);
  await load.waitForProgress();
  await cluster.kubectl('rollout', 'restart', 'deployment');
  await allReady();
  await load.waitForProgress();
  report('a restart of every Deployment', load);
  expect(load.failures).toEqual([]);
});

test.each(['queue-redis', 'store'])('a restart of %s fails no upload, and loses none', async (name) => {
  await using load = await Load.start(system);
  await load.waitForProgress();
  await cluster.kubectl('rollout', 'restart', `statefulset/${name}`);
  await allReady();
  await load.waitForProgress();
  report(`a restart of ${name}`, load);
  expect(load.failures).toEqual([]);
  await expectNoneLost(cluster, system, load);
});

test.each(nodes)('a drain of %s fails no upload, and loses none', async (node) => {
  await using load = await Load.start(system);
  await load.waitForProgress();
  await drain(cluster, node);
  await load.waitForProgress();
  await cluster.kubectl('uncordon', node);
  await allReady();
  report(`a drain of ${node}`, load);
  expect(load.failures).toEqual([]);
  await expectNoneLost(cluster, system, load);
});

test.each(nodes)('60 seconds after the power-off of %s uploads work, and no acknowledged one is lost', async (node) => {
  await using load = await Load.start(system);
  await load.waitForProgress();
  await cluster.powerOff(node);
  const begun = performance.now();
  await sleep(recoveryMs);
  await waitForNode(cluster, node, 'NotReady');
  // Long enough for what waits for the lost node to be replaced.
  await sleep(recoveryMs);
  await load.waitForProgress();
  const recoveredMs = load.recoveryMs(begun);
  report(`the power-off of ${node}, works after ${(recoveredMs / 1000).toFixed(1)} s`, load);
  expect(recoveredMs).toBeLessThan(recoveryMs);
  await cluster.powerOn(node);
  await waitForNode(cluster, node, 'Ready');
  await allReady();
  await expectNoneLost(cluster, system, load);
});

async function allReady(): Promise<void> {
  await system.settled();
  await waitUntil('all pods', async () => (await podsOf(cluster)).every(({ isReady }) => isReady), 540_000);
}

function report(what: string, { acknowledged, failures }: Load): void {
  process.stdout.write(`${what}: ${acknowledged.length} uploads, ${failures.length} failed: ${failures}\n`);
}
