import { mia, type StandInProvider, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { echo, Replica } from './replica.fixture.ts';

let redis: RunningRedis;
let parts: AsyncDisposableStack;
let standIn: StandInProvider;

beforeAll(async () => {
  redis = await startRedis();
});

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  standIn = parts.use(await startStandIn());
  await redis.command('flushall');
});

afterEach(() => parts.disposeAsync());

afterAll(() => redis[Symbol.asyncDispose]());

async function replica(settings: Partial<ConstructorParameters<typeof Replica>[0]> = {}): Promise<Replica> {
  const one = parts.use(new Replica({ redisUrl: redis.url, providers: [standIn.provider], ...settings }));
  await waitUntil('the cache connection', async () => one.redis.status === 'ready');
  return one;
}

function verify({ verifier }: Replica, nonce: string) {
  const header = `OAuth oauth_consumer_key="c", oauth_token="t", oauth_timestamp="1", oauth_nonce="${nonce}"`;
  return verifier.verify(echo(standIn.provider, header));
}

/** Monitors client commands; a script counts as one. The returned function returns the names since its last call. */
async function watchCommands(): Promise<() => Promise<string[]>> {
  const client = new Redis(redis.url);
  const monitor = await client.monitor();
  parts.defer(() => {
    client.disconnect();
    monitor.disconnect();
  });
  let seen: string[] = [];
  let marks = 0;
  monitor.on('monitor', (_: string, [name = '', word = '']: string[], source: string) => {
    if (source !== 'lua') seen.push(name === 'echo' ? word : name);
  });
  return async () => {
    marks += 1;
    const mark = `mark ${marks}`;
    await client.echo(mark);
    await waitUntil('all commands', async () => seen.includes(mark));
    const names = seen.filter((each) => each !== mark);
    seen = [];
    return names;
  };
}

const older = new Secret('an older secret!');
const newer = new Secret('a newer secret!!');

test.each([
  ['', [newer], 2, 1],
  // A look and a write under each secret; a repeat finds the verdict under the first.
  [' during a rotation of secrets', [newer, older], 4, 1],
] as const)(
  'a fresh proof%s takes as many round trips to the cache as it must',
  async (_, keySecret, fresh, repeat) => {
    const one = await replica({ keySecret });
    const commands = await watchCommands();
    // The first use of a script on a connection sends its text, in one command too.
    for (const nonce of ['first', 'second']) {
      await verify(one, nonce);
      await one.verifier[Symbol.asyncDispose]();
      expect(await commands()).toHaveLength(fresh);
      await verify(one, nonce);
      await one.verifier[Symbol.asyncDispose]();
      expect(await commands()).toHaveLength(repeat);
    }
    expect(standIn.requests).toHaveLength(2);
  },
);

test('a verified caller does not wait for the cache; a repeat does, without a second query', async () => {
  const one = await replica();
  standIn.behaviour = async (socket) => {
    await redis.freeze();
    mia(socket);
  };
  expect(await verify(one, 'a')).toMatchObject({ outcome: 'verified' });
  const repeat = verify(one, 'a');
  await redis.thaw();
  expect(await repeat).toMatchObject({ outcome: 'verified' });
  expect(standIn.requests).toHaveLength(1);
});

test('shutdown waits for pending cache writes', async () => {
  const one = await replica();
  const other = await replica();
  standIn.behaviour = async (socket) => {
    await redis.freeze();
    mia(socket);
  };
  await verify(one, 'a');
  const stopped = one[Symbol.asyncDispose]();
  await redis.thaw();
  await stopped;
  expect(await verify(other, 'a')).toMatchObject({ outcome: 'verified' });
  expect(standIn.requests).toHaveLength(1);
});
