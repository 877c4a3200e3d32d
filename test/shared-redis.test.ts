import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { createTus, patchTus } from '@echodrop/testkit/tus-requests';
import { upload } from '@echodrop/testkit/upload';
import { afterAll, beforeAll, expect, test } from 'vitest';

// One is the beginning of the other.
const prefixes = ['harbour', 'harbour-2'] as const;

/** A community with its own secrets and a Redis user that may use its names alone. */
async function startCommunity(redis: RunningRedis, prefix: string): Promise<Stack> {
  const rights = [`~${prefix}:*`, `~{${prefix}}`, `~{${prefix}}:*`, `~{${prefix}:*`, `&{${prefix}}:*`];
  await redis.command('ACL', 'SETUSER', prefix, 'on', '>password', 'resetchannels', ...rights, '+@all');
  return startStack({
    settings: {
      REDIS_URL: redis.url.replace('//', `//${prefix}:password@`),
      REDIS_PREFIX: prefix,
      PROBE_QUEUE_SECRET: `the secret of probes of ${prefix}`,
      RENDITION_QUEUE_SECRET: `the secret of renditions of ${prefix}`,
      CACHE_KEY_SECRET: `the secret of verdicts of ${prefix}`,
      VERIFIER_SECRET: `the secret of the verifier of ${prefix}`,
      UPLOADS_PER_MINUTE_PER_USER: '1000',
      UPLOADS_PER_MINUTE_PER_KEY: '1000',
    },
  });
}

const parts = new AsyncDisposableStack();
let redis: RunningRedis;
let stacks: readonly Stack[];

beforeAll(async () => {
  redis = parts.use(await startRedis());
  stacks = await Promise.all(prefixes.map(async (prefix) => parts.use(await startCommunity(redis, prefix))));
});
afterAll(() => parts.disposeAsync());

test('two communities with different prefixes share one Redis, and neither uses a key or takes a job of the other', async () => {
  const photo = await samplePhoto('png', { width: 64, height: 48 });
  const video = await sampleVideo('mp4', { width: 64, height: 48 });
  const urls = await Promise.all(
    stacks.map(async (stack) => {
      const each = [...Array.from({ length: 10 }, () => photo), video];
      const uploads = each.map((media, n) => upload(stack, { media, headers: { 'Idempotency-Key': `"${n}"` } }));
      const texts = (await Promise.all(uploads)).map(({ status, text }) =>
        status === 200 ? text : `${status} ${text}`,
      );
      return texts.map((text) => JSON.parse(text).url as string);
    }),
  );
  for (const stack of stacks) {
    const path = `${(await createTus(stack, photo.length)).headers.get('location')}`;
    expect((await patchTus(stack, path, 0, photo)).status).toBe(204);
  }
  for (const url of urls.flat())
    await expect.poll(async () => (await fetch(`${url}/large.jpg`)).status, { timeout: 60_000 }).toBe(200);
  for (const stack of stacks) expect(await forgedEntries(stack)).toBe(0);

  const keys = (await redis.command('KEYS', '*')).split('\n');
  const channels = (await redis.command('PUBSUB', 'SHARDCHANNELS')).split('\n').filter(Boolean);
  const isOf = (prefix: string) => (name: string) => new RegExp(`^(${prefix}:|\\{${prefix}[:}])`).test(name);
  for (const prefix of prefixes) {
    const own = keys.filter(isOf(prefix)).map((key) => key.replaceAll(/[{}]/g, '').split(':').slice(1, 3).join(':'));
    expect(own.join(' ')).toMatch(/idempotency:3/);
    for (const kind of ['probe-photos:meta', 'probe-films:meta', 'rendition-films:meta', '3:verdict'])
      expect(own).toContain(kind);
    expect(own.some((name) => name.startsWith('uploads-of-user'))).toBe(true);
    expect(channels.filter(isOf(prefix))).not.toEqual([]);
  }
  expect([...keys, ...channels].filter((name) => !prefixes.some((prefix) => isOf(prefix)(name)))).toEqual([]);
  // Redis would also note names that have expired since.
  expect(await redis.command('ACL', 'LOG')).toBe('');
});

async function forgedEntries(stack: Stack): Promise<number> {
  const names = ['gateway', 'probe-worker', 'rendition-worker', 'site', 'auth-verifier'] as const;
  const texts = await Promise.all(names.map((name) => stack.metrics(name)));
  const counts = texts.join('\n').matchAll(/^echodrop_forged_entries_total\{.*\} (\d+)/gm);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
