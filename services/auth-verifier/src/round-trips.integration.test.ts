import { mia } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { echo, type Replica, replicaTests } from './replica.fixture.ts';

const its = replicaTests();

function verify({ verifier }: Replica, nonce: string) {
  const header = `OAuth oauth_consumer_key="c", oauth_token="t", oauth_timestamp="1", oauth_nonce="${nonce}"`;
  return verifier.verify(echo(its.standIn.provider, header));
}

/** Monitors client commands; a script counts as one. The returned function returns the names since its last call. */
async function watchCommands(): Promise<() => Promise<string[]>> {
  const client = new Redis(its.redis.url);
  const monitor = await client.monitor();
  its.parts.defer(() => {
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

test('a fresh proof takes two round trips to the cache, and a repeat one', async () => {
  const one = await its.replica();
  const commands = await watchCommands();
  // The first use of a script on a connection sends its text, in one command too.
  for (const nonce of ['first', 'second']) {
    await verify(one, nonce);
    await one.verifier[Symbol.asyncDispose]();
    expect(await commands()).toHaveLength(2);
    await verify(one, nonce);
    await one.verifier[Symbol.asyncDispose]();
    expect(await commands()).toHaveLength(1);
  }
  expect(its.standIn.requests).toHaveLength(2);
});

test('a verified caller does not wait for the cache; a repeat does, without a second query', async () => {
  const one = await its.replica();
  its.standIn.behaviour = async (socket) => {
    await its.redis.freeze();
    mia(socket);
  };
  expect(await verify(one, 'a')).toMatchObject({ outcome: 'verified' });
  const repeat = verify(one, 'a');
  await its.redis.thaw();
  expect(await repeat).toMatchObject({ outcome: 'verified' });
  expect(its.standIn.requests).toHaveLength(1);
});

test('shutdown waits for pending cache writes', async () => {
  const one = await its.replica();
  const other = await its.replica();
  its.standIn.behaviour = async (socket) => {
    await its.redis.freeze();
    mia(socket);
  };
  await verify(one, 'a');
  const stopped = one[Symbol.asyncDispose]();
  await its.redis.thaw();
  await stopped;
  expect(await verify(other, 'a')).toMatchObject({ outcome: 'verified' });
  expect(its.standIn.requests).toHaveLength(1);
});
