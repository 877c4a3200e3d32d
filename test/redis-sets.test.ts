import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { startClusterSet, startSentinelSet } from '@echodrop/testkit/servers/start-redis-set';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';

const uploadServices = ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'] as const;

test.concurrent.each([
  ['a cluster', startClusterSet],
  ['sentinels', startSentinelSet],
] as const)(
  'with %s, uploads continue after the master is killed, none is lost, and verdicts and limits are shared again',
  async (_, start) => {
    await using redis = await start();
    const settings = { REDIS_URL: redis.url };
    await using stack = await startStack({ services: uploadServices, settings });
    await using limited = await startStack({
      beside: stack,
      services: ['gateway'],
      settings: { ...settings, VERIFIER_URL: stack.verifier, UPLOADS_PER_MINUTE_PER_USER: '2' },
    });
    const photo = await samplePhoto('png', { width: 32, height: 32 });
    await using uploads = startUploads(stack, photo);
    await uploads.more(20);

    await (await redis.master()).kill();
    await waitUntil('a waiting upload', async () => uploads.oldestMs() > 500);
    await uploads.more(20);
    expect(uploads.statuses()).toEqual([200]);

    await waitUntil('a verdict from the cache', async () => {
      const { path, headers, body } = uploadRequest(stack, { media: photo });
      const before = await countCachedVerdicts(stack);
      for (const _ of [1, 2]) await fetch(`${stack.gateway}${path}`, { method: 'POST', headers, body });
      return (await countCachedVerdicts(stack)) === before + 1;
    });
    await waitUntil('a rate limit', async () => (await upload(limited, { media: photo })).status === 429);
    const sendRepeated = () => upload(stack, { media: photo, headers: { 'Idempotency-Key': '"repeated"' } });
    const first = await sendRepeated();
    const second = await sendRepeated();
    expect(second).toMatchObject({ status: 200, text: first.text });

    await uploads.stop();
    const records = new Set((await stack.stored('records')).map((name) => name.replace(/\.json$/, '')));
    expect(uploads.ids.filter((id) => !records.has(id))).toEqual([]);
  },
);

/** Four clients that upload continuously until stopped. */
function startUploads(stack: Stack, media: Buffer) {
  const ids: string[] = [];
  const statuses: number[] = [];
  const begun = new Set<number>();
  let isOver = false;
  const client = async () => {
    while (!isOver) {
      const begin = performance.now();
      begun.add(begin);
      const response = await upload(stack, { media, headers: { 'Idempotency-Key': randomUUID() } });
      begun.delete(begin);
      statuses.push(response.status);
      if (response.status === 200) ids.push(JSON.parse(response.text).id);
      await sleep(250);
    }
  };
  const clients = Promise.all([1, 2, 3, 4].map(client));
  const stop = async () => {
    isOver = true;
    await clients;
  };
  return {
    ids,
    statuses: () => [...new Set(statuses)],
    /** The time that the oldest pending upload has waited. */
    oldestMs: () => performance.now() - Math.min(...begun),
    /** Waits for this many more 200 responses. */
    more: async (count: number) => {
      const wanted = ids.length + count;
      await waitUntil(`${count} more uploads`, async () => ids.length >= wanted);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function countCachedVerdicts(stack: Stack): Promise<number> {
  const metrics = await stack.metrics('auth-verifier');
  const counts = metrics.matchAll(/^echodrop_verifications_total\{[^}]*source="cache"[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
