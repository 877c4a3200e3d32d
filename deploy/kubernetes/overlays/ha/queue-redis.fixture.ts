import { mkdir, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@echodrop/testkit/free-ports';
import { redisCommand } from '@echodrop/testkit/servers/redis-command';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { pongs, redisProgram } from '@echodrop/testkit/servers/start-redis';
import { execa } from 'execa';
import { type MadeSecrets, makeSecrets, queueRedisOfHa } from '../../../made-secrets.fixture.ts';

/** A pod of the overlay's queue Redis: Redis and a sentinel, started by the overlay's scripts. */
export interface RedisPod {
  readonly address: string;
  /** Ends both without warning. */
  powerOff(): Promise<void>;
  /** Starts both again. Resolves when the sentinel responds; Redis may still wait for other pods. */
  powerOn(): Promise<void>;
  /** Ends the sentinel and runs `fail-over`, as in a pod that stops. */
  handOver(): Promise<void>;
  /** Runs a command in Redis, as the operator. */
  command(...words: string[]): Promise<string>;
  /** The address of the master, according to the sentinel. */
  masterOfSentinel(): Promise<string | undefined>;
}

interface RedisPods extends AsyncDisposable {
  readonly pods: readonly [RedisPod, RedisPod, RedisPod];
}

interface Place {
  readonly folder: string;
  readonly secrets: MadeSecrets;
  readonly port: number;
  readonly sentinelPort: number;
}

// Loopback addresses that end with the number of the pod.
const network = '127.0.53';

/** Starts three pods at once, as at an installation. Only Linux has their loopback addresses. */
export async function startRedisPods(): Promise<RedisPods> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-redis-pods-'))).path;
  const secrets = parts.use(await makeSecrets({ QUEUE_REDIS_ADDRESS: queueRedisOfHa }));
  const place = { folder, secrets, port: await freePort(), sentinelPort: await freePort() };
  const start = (n: number) => startPod(place, n, parts);
  const pods = await Promise.all([start(0), start(1), start(2)]);
  const held = parts.move();
  return { pods, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

async function startPod(place: Place, n: number, parts: AsyncDisposableStack): Promise<RedisPod> {
  const { secrets, port, sentinelPort } = place;
  const address = `${network}.${n}`;
  const folder = join(place.folder, `${n}`);
  await copyScripts(place, folder, address);
  const script = (name: string) => join(folder, 'start', name);
  const env = { POD_NAME: `queue-redis-${n}` };
  const acl = ['--aclfile', join(secrets.folder, 'QUEUE_REDIS_ACL')];
  const own = ['--bind', address, '--port', `${port}`, '--dir', join(folder, 'data')];
  // Of replicas that it could promote, a sentinel chooses the lowest number instead of a random one.
  const priority = ['--replica-priority', `${100 + n}`];
  const settings = [...acl, ...own, ...priority, '--appendonly', 'yes', '--repl-diskless-sync-delay', '0'];
  const start = async (command: readonly [string, ...string[]], isReady: () => Promise<boolean>) =>
    parts.use(await ServerProcess.start({ command, env, isReady }));
  const [redis, sentinel] = await Promise.all([
    start([script('start-redis'), ...settings], async () => true),
    start([script('start-sentinel')], () => pongs(sentinelPort, address)),
  ]);
  const asOperator = { host: address, login: { user: 'operator', password: secrets.read('REDIS_OPERATOR_PASSWORD') } };
  return {
    address,
    powerOff: async () => {
      await Promise.all([redis.kill(), sentinel.kill()]);
    },
    powerOn: async () => {
      await Promise.all([redis.restart(), sentinel.restart()]);
    },
    handOver: async () => {
      await sentinel.kill();
      await execa(script('fail-over'), { env });
    },
    command: (...words) => redisCommand(port, words, asOperator),
    masterOfSentinel: async () => {
      const reply = await redisCommand(sentinelPort, ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'queue'], asOperator);
      return reply.split('\n')[0];
    },
  };
}

/** Copies the scripts with the paths, ports and addresses of this pod instead of those of its container. */
async function copyScripts({ secrets, port, sentinelPort }: Place, folder: string, address: string): Promise<void> {
  const scripts = join(import.meta.dirname, 'queue-redis');
  const server = await redisProgram();
  const replacements = {
    '/data': join(folder, 'data'),
    '/start/': join(folder, 'start/'),
    '/run/secrets/redis': secrets.folder,
    '26379': `${sentinelPort}`,
    ' 6379': ` ${port}`,
    'queue-$': `${network}.$`,
    'redis-server': server,
    '--sentinel': `--sentinel --bind ${address}`,
    // If a replica starts late, or a vote is split, sentinels try again after twice this time.
    'failover-timeout queue 30000': 'failover-timeout queue 10000',
    // A later -h or -p counts.
    'redis-cli': `${server.replace('server', 'cli')} -h ${address} -p ${port}`,
  };
  for (const path of ['data', 'start']) await mkdir(join(folder, path), { recursive: true });
  for (const name of await readdir(scripts)) {
    let text = await readFile(join(scripts, name), 'utf8');
    for (const [from, to] of Object.entries(replacements)) text = text.replaceAll(from, () => to);
    await writeFile(join(folder, 'start', name), text, { mode: 0o755 });
  }
}
