import { freePort } from '../free-ports.ts';
import { patienceMs } from '../patience.ts';
import { waitUntil } from '../wait-until.ts';
import type { RunningRedis } from './start-redis.ts';
import { startRedis } from './start-redis.ts';
import { startSentinels } from './start-sentinels.ts';

/** Several Redis servers with failover. */
export interface RedisSet extends AsyncDisposable {
  readonly url: string;
  readonly servers: readonly RunningRedis[];
  /** The current master of the queue keys, according to the servers that respond. */
  master(): Promise<RunningRedis>;
}

// The time without a reply after which a server counts as down, once a test has stopped one: short for quick tests.
const downAfterMs = 1500;

/** Delays failover until a test first stops a server: until then, a server that responds late is only slow. */
async function delayFailover(
  servers: readonly RunningRedis[],
  setDownAfter: (ms: number) => Promise<unknown>,
): Promise<void> {
  await setDownAfter(patienceMs);
  let isSoon: Promise<unknown> | undefined;
  for (const server of servers) {
    const { freeze, kill, stop } = server;
    const after = (end: () => Promise<void>) => async () => {
      isSoon ??= setDownAfter(downAfterMs);
      await isSoon;
      await end();
    };
    Object.assign(server, { freeze: after(freeze), kill: after(kill), stop: after(stop) });
  }
}

/** Waits until the replicas that respond have all writes of `master`. WAIT knows only the writes of its own connection. */
export async function replicate({ servers }: Pick<RedisSet, 'servers'>, master: RunningRedis): Promise<void> {
  const infoOf = (server: RunningRedis) => server.command('INFO', 'replication').catch(() => '');
  const numberIn = (info: string, name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  const written = numberIn(await infoOf(master), 'master_repl_offset');
  await waitUntil('replication', async () => {
    const infos = await Promise.all(servers.map(infoOf));
    const replicas = infos.filter((info) => numberIn(info, 'master_port') === master.port);
    return replicas.length > 0 && replicas.every((info) => numberIn(info, 'slave_repl_offset') >= written);
  });
}

/** A master with two replicas, and three sentinels with a quorum of two. */
export async function startSentinelSet(): Promise<RedisSet> {
  await using parts = new AsyncDisposableStack();
  const name = 'echodrop-test';
  const servers = await Promise.all([1, 2, 3].map(async () => parts.use(await startRedis({ more: replicated }))));
  const [master, ...replicas] = servers as [RunningRedis, ...RunningRedis[]];
  for (const replica of replicas) await replica.command('REPLICAOF', '127.0.0.1', `${master.port}`);
  await linked(replicas);
  const sentinels = parts.use(await startSentinels({ name, masterPort: master.port, replicas: 2, downAfterMs }));
  await delayFailover(servers, sentinels.setDownAfter);
  const held = parts.move();
  return {
    url: `redis+sentinel://${hosts(sentinels.ports)}/${name}`,
    servers,
    master: async () => withPort(servers, await sentinels.masterPort()),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** A cluster of three masters, and two replicas of the master of the queue keys. */
export async function startClusterSet(): Promise<RedisSet> {
  await using parts = new AsyncDisposableStack();
  const servers = await Promise.all([1, 2, 3, 4, 5].map(async () => parts.use(await startNode())));
  const masters = servers.slice(0, 3);
  const replicas = servers.slice(3);
  await Promise.all(masters.map(giveSlots));
  for (const node of servers.slice(1)) {
    const [, busPort = ''] = (await node.command('CONFIG', 'GET', 'cluster-port')).split('\n');
    await servers[0]?.command('CLUSTER', 'MEET', '127.0.0.1', `${node.port}`, busPort);
  }
  await everyone(servers, ['CLUSTER', 'INFO'], /cluster_state:ok.*cluster_known_nodes:5/s);
  const master = await masterOfQueues(servers);
  const id = await master.command('CLUSTER', 'MYID');
  for (const replica of replicas) await replica.command('CLUSTER', 'REPLICATE', id);
  await linked(replicas);
  await everyone(servers, ['CLUSTER', 'NODES'], /slave.*slave/s);
  await delayFailover(servers, (ms) =>
    Promise.all(servers.map((node) => node.command('CONFIG', 'SET', 'cluster-node-timeout', `${ms}`))),
  );
  const held = parts.move();
  return {
    url: `redis+cluster://${hosts(masters.map(({ port }) => port))}`,
    servers,
    master: () => masterOfQueues(servers),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

const slots = 16_384;
const replicated = { 'repl-diskless-sync-delay': '0', 'repl-timeout': '10' };

async function startNode(): Promise<RunningRedis> {
  const cluster = {
    'cluster-enabled': 'yes',
    'cluster-port': `${await freePort()}`,
    'cluster-node-timeout': `${downAfterMs}`,
  };
  return startRedis({ more: { ...replicated, ...cluster } });
}

async function giveSlots(node: RunningRedis, index: number): Promise<void> {
  const firstOf = (which: number) => Math.floor((which * slots) / 3);
  await node.command('CLUSTER', 'ADDSLOTSRANGE', `${firstOf(index)}`, `${firstOf(index + 1) - 1}`);
  await node.command('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`);
}

const linked = (replicas: readonly RunningRedis[]) =>
  everyone(replicas, ['INFO', 'replication'], /master_link_status:up/);

async function everyone(servers: readonly RunningRedis[], command: readonly string[], says: RegExp): Promise<void> {
  await waitUntil(`${command.join(' ')}: ${says}`, async () => {
    const replies = await Promise.all(servers.map((each) => each.command(...command)));
    return replies.every((text) => says.test(text));
  });
}

function hosts(ports: readonly number[]): string {
  return ports.map((port) => `127.0.0.1:${port}`).join();
}

// Every node that responds reports an owner of the slot. A restarted node may be outdated, so the latest epoch decides.
async function masterOfQueues(servers: readonly RunningRedis[]): Promise<RunningRedis> {
  const replies = await Promise.all(
    servers
      .map(async (node) => {
        const slot = await node.command('CLUSTER', 'KEYSLOT', '{echodrop}');
        const nodes = await node.command('CLUSTER', 'NODES');
        return mastersOf(Number(slot), nodes);
      })
      .map((reply) => reply.catch(() => [])),
  );
  const latest = replies.flat().sort((one, other) => other.epoch - one.epoch)[0];
  return withPort(servers, latest?.port);
}

// `<id> 127.0.0.1:<port>@<bus port> <flags> <master> <ping> <pong> <epoch> <link> <slots>...`
function mastersOf(slot: number, nodes: string): { port: number; epoch: number }[] {
  return nodes.split('\n').flatMap((line) => {
    const [, address = '', flags = '', , , , epoch, , ...ranges] = line.split(' ');
    const has = ranges.some((range) => {
      const [first = Number.NaN, last = first] = range.split('-').map(Number);
      return first <= slot && slot <= last;
    });
    return has && flags.includes('master')
      ? [{ port: Number(/:(\d+)@/.exec(address)?.[1]), epoch: Number(epoch) }]
      : [];
  });
}

function withPort(servers: readonly RunningRedis[], port: number | undefined): RunningRedis {
  const server = servers.find((each) => each.port === port);
  if (!server) throw new Error('no server knows the master');
  return server;
}
