import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { variableOf } from '@echodrop/client/local-system';
import { createLog } from '@echodrop/service/log';
import { connectRedis, failFast } from '@echodrop/service/redis/redis';
import { redisAt } from '@echodrop/service/redis/redis-at.fixture';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MadeSecrets, makeSecrets } from './made-secrets.fixture.ts';

const parts = new AsyncDisposableStack();
let secrets: MadeSecrets;
const redis: Record<string, RunningRedis> = {};

beforeAll(async () => {
  secrets = parts.use(await makeSecrets());
  for (const role of ['QUEUE', 'CACHE'])
    redis[role] = parts.use(await startRedis({ more: { aclfile: join(secrets.folder, `${role}_REDIS_ACL`) } }));
});
afterAll(() => parts.disposeAsync());

function of(role: string): RunningRedis {
  return redis[role] ?? expect.fail(`no Redis for ${role}`);
}

/** Runs a Redis command as a user. */
function asUser(role: string, user: string, password: string, ...command: string[]): Promise<string> {
  return of(role).commandAs({ user, password }, ...command);
}

function asService(role: string, user: string, ...command: string[]): Promise<string> {
  const name = variableOf(user, `${role}_REDIS_URL`);
  return asUser(role, user, new URL(secrets.read(name)).password, ...command);
}

function asOperator(role: string, ...command: string[]): Promise<string> {
  return asUser(role, 'operator', secrets.read('REDIS_OPERATOR_PASSWORD'), ...command);
}

const idempotencyKey = 'echodrop:idempotency:1:abc';
const verdict = '{echodrop:3}:verdict:abc';
const users = [
  ['QUEUE', 'gateway'],
  ['QUEUE', 'site'],
  ['QUEUE', 'probe-worker'],
  ['QUEUE', 'rendition-worker'],
  ['CACHE', 'gateway'],
  ['CACHE', 'auth-verifier'],
] as const;

describe.each(['QUEUE', 'CACHE'])('%s_REDIS_ACL', (role) => {
  test('refuses commands without a user; the health check can only ping', async () => {
    expect(await of(role).command('PING')).toContain('NOAUTH');
    expect(await asUser(role, 'default', 'any', 'PING')).toContain('NOAUTH');
    expect(await asUser(role, 'health', 'any', 'PING')).toContain('PONG');
    for (const command of [['GET', 'a'], ['INFO'], ['PUBLISH', 'a', 'b']])
      expect(await asUser(role, 'health', 'any', ...command)).toMatch(/^NOPERM/);
  });

  test('the operator may run every command', async () => {
    expect(await asOperator(role, 'CONFIG', 'GET', 'maxmemory')).toContain('maxmemory');
    expect(await asOperator(role, 'SET', 'anything', '1')).toBe('OK');
    expect(await asOperator(role, 'DEL', 'anything')).toBe('1');
  });
});

const administrative = [
  ...['FLUSHALL', 'KEYS *', 'SCAN 0', 'RANDOMKEY', 'CONFIG GET *', 'ACL LIST', 'MONITOR', 'CLIENT TRACKING ON BCAST'],
  ...['CLIENT LIST', 'SHUTDOWN', 'SAVE', 'SCRIPT FLUSH', 'FUNCTION FLUSH', 'REPLICAOF no one', 'MODULE LIST'],
  ...['SWAPDB 0 1', 'MIGRATE a 1 b 0 1'],
];

test.each(users)('%s: %s has its own password and no administrative commands', async (role, user) => {
  for (const [, other] of users.filter(([of, name]) => of === role && name !== user)) {
    const name = variableOf(other, `${role}_REDIS_URL`);
    expect(await asUser(role, user, new URL(secrets.read(name)).password, 'PING')).toContain('NOAUTH');
  }
  for (const command of administrative)
    expect({ command, reply: await asService(role, user, ...command.split(' ')) }).toEqual({
      command,
      reply: expect.stringMatching(/^NOPERM/),
    });
});

const queues = {
  probes: '{echodrop}:probe-photos:wait',
  renditions: '{echodrop}:rendition-pictures:wait',
  'idempotency keys': idempotencyKey,
  'anything else': 'else',
};
test.each([
  ['gateway', ['probes', 'renditions', 'idempotency keys']],
  ['site', ['renditions']],
  ['probe-worker', ['probes']],
  ['rendition-worker', ['renditions']],
])('in the queue Redis, %s reads and writes only %j', async (user, own) => {
  for (const [what, key] of Object.entries(queues)) {
    const script = ['EVAL', "return redis.call('GET', KEYS[1])", '1', key];
    for (const command of [['GET', key], ['SET', key, 'x'], ['DEL', key], script]) {
      const reply = await asService('QUEUE', user, ...command);
      expect({ command, isRefused: /NOPERM|can't access/.test(reply) }).toEqual({
        command,
        isRefused: !own.includes(what),
      });
    }
  }
});

test('a script cannot use keys that its user cannot', async () => {
  await asOperator('QUEUE', 'SET', idempotencyKey, 'a claim');
  const reply = await asService('QUEUE', 'probe-worker', 'EVAL', `return redis.call('GET', '${idempotencyKey}')`, '0');
  expect(reply).toMatch(/can't access/);
  expect(reply).not.toContain('a claim');
});

test.each([
  ['probe-worker', '{echodrop}:replies:a', true],
  ['probe-worker', '{echodrop}:rendition-pictures:ended:a', false],
  ['rendition-worker', '{echodrop}:rendition-pictures:ended:a', true],
  ['site', '{echodrop}:rendition-pictures:ended:a', true],
  ['site', 'else', false],
])('%s may publish to %s: %s', async (user, channel, may) => {
  expect(await asService('QUEUE', user, 'SPUBLISH', channel, 'x')).toContain(may ? '0' : 'NOPERM');
});

test('only the auth-verifier has access to verdicts, and only to verdicts', async () => {
  await asOperator('CACHE', 'SET', verdict, 'a verdict');
  for (const command of [
    ['GET', verdict],
    ['SET', verdict, 'x'],
    ['DEL', verdict],
  ])
    expect(await asService('CACHE', 'gateway', ...command)).toMatch(/^NOPERM/);
  expect(await asService('CACHE', 'auth-verifier', 'GET', verdict)).toBe('a verdict');
  const limit = 'echodrop:uploads-of-user:abc';
  expect(await asService('CACHE', 'auth-verifier', 'SET', limit, '0')).toMatch(/^NOPERM/);
  expect(await asService('CACHE', 'gateway', 'SET', limit, '0')).toBe('OK');
});

test('a password rotates while its service is connected: first both are valid, then only the new one', async () => {
  const name = 'SITE_QUEUE_REDIS_URL';
  const file = join(secrets.folder, name);
  const address = () => {
    const url = new URL(secrets.read(name));
    url.host = `127.0.0.1:${of('QUEUE').port}`;
    return redisAt(url.href);
  };
  const passwordIn = ({ password }: URL) => password;
  const old = passwordIn(new URL(secrets.read(name)));
  const log = createLog('test', 'silent');
  await using connected = connectRedis(address(), failFast, log);
  const isReady = async () => (await connected.exists('{echodrop}').catch(() => undefined)) !== undefined;
  await waitUntil('a reply', isReady);

  await rename(file, `${file}.old`);
  await secrets.makeAgain();
  expect(await asOperator('QUEUE', 'ACL', 'LOAD')).toBe('OK');
  const fresh = passwordIn(new URL(secrets.read(name)));
  expect(fresh).not.toBe(old);
  for (const password of [old, fresh]) expect(await asUser('QUEUE', 'site', password, 'PING')).toBe('PONG');
  await waitUntil('a reply with the old password', isReady);

  await rm(`${file}.old`);
  await secrets.makeAgain();
  expect(await asOperator('QUEUE', 'ACL', 'LOAD')).toBe('OK');
  expect(await asUser('QUEUE', 'site', old, 'PING')).toContain('NOAUTH');
  await using restarted = connectRedis(address(), failFast, log);
  await waitUntil('a reply with the new password', async () => (await restarted.ping()) === 'PONG');
});

test("the operator's password rotates in both Redis: first both are valid, then only the new one", async () => {
  const name = 'REDIS_OPERATOR_PASSWORD';
  const file = join(secrets.folder, name);
  const roles = ['QUEUE', 'CACHE'];
  const old = secrets.read(name);

  await rename(file, `${file}.old`);
  await secrets.makeAgain();
  const fresh = secrets.read(name);
  expect(fresh).not.toBe(old);
  for (const role of roles) expect(await asUser(role, 'operator', old, 'ACL', 'LOAD')).toBe('OK');
  for (const role of roles)
    for (const password of [old, fresh]) expect(await asUser(role, 'operator', password, 'PING')).toBe('PONG');

  await rm(`${file}.old`);
  await secrets.makeAgain();
  for (const role of roles) expect(await asOperator(role, 'ACL', 'LOAD')).toBe('OK');
  for (const role of roles) expect(await asUser(role, 'operator', old, 'PING')).toContain('NOAUTH');
});

test.each(['rediss:', 'redis+sentinel:', 'rediss+cluster:'])(
  'a password is taken from an address of %s',
  async (scheme) => {
    await using own = await makeSecrets();
    const name = 'SITE_QUEUE_REDIS_URL';
    const user = () => /^user site .*$/m.exec(own.read('QUEUE_REDIS_ACL'))?.[0];
    const before = user();
    const address = own.read(name).replace('redis:', scheme);
    await rm(join(own.folder, name));
    await writeFile(join(own.folder, name), address);
    await own.makeAgain();
    expect(user()).toBe(before);
  },
);

test('with REDIS_PREFIX, every user may use only names with that prefix, instead of the default', async () => {
  await using own = await makeSecrets({ REDIS_PREFIX: 'harbour' });
  const rights = (name: string) => {
    const lines = own.read(name).matchAll(/^user (\S+) .*?((?:[~&][^ ]+ )+)\+?/gm);
    return Object.fromEntries(lines.map(([, user, names = '']) => [user, names.trim().split(' ')]));
  };
  const { operator: _, ...queue } = rights('QUEUE_REDIS_ACL');
  const { operator: __, ...cache } = rights('CACHE_REDIS_ACL');
  expect(queue['probe-worker']).toEqual(['~{harbour}', '~{harbour}:probe-*', '&{harbour}:replies:*']);
  expect(cache).toEqual({ gateway: ['~harbour:*'], 'auth-verifier': ['~{harbour:*'] });
  const all = Object.values({ ...queue, 'cache gateway': cache['gateway'] }).flat();
  expect(all.filter((name) => !/^[~&](\{harbour\}|harbour:)/.test(`${name}`))).toEqual([]);
});

test('a user is named as in its address, so that communities can share one Redis', async () => {
  await using own = await makeSecrets({ REDIS_PREFIX: 'harbour' });
  const name = 'SITE_QUEUE_REDIS_URL';
  const address = own.read(name).replace('//site:', '//harbour-site:');
  await rm(join(own.folder, name));
  await writeFile(join(own.folder, name), address);
  await own.makeAgain();
  const users = own.read('QUEUE_REDIS_ACL').matchAll(/^user (\S+)/gm);
  expect([...users.map(([, user]) => user)]).toEqual([
    ...['default', 'health', 'operator'],
    ...['gateway', 'harbour-site', 'probe-worker', 'rendition-worker'],
  ]);
});

test.each(['a:b', '*', '{a}', '-a'])('refuses REDIS_PREFIX=%s, which would mean other rights', async (prefix) => {
  await expect(makeSecrets({ REDIS_PREFIX: prefix })).rejects.toThrow(/REDIS_PREFIX must have letters/);
});

test('the ACL files contain only hashes of passwords', () => {
  const files = ['QUEUE_REDIS_ACL', 'CACHE_REDIS_ACL'].map((name) => secrets.read(name)).join('\n');
  for (const [role, user] of users) {
    const url = new URL(secrets.read(variableOf(user, `${role}_REDIS_URL`)));
    expect(files).not.toContain(url.password);
  }
  expect(files).not.toContain(secrets.read('REDIS_OPERATOR_PASSWORD'));
});
