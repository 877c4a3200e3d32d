import { sleepyFfprobe } from '@echodrop/testkit/hostile/sleepy-ffprobe';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { StoppableServer } from '@echodrop/testkit/servers/server-process';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const uploadServices = ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'] as const;

let photo: Buffer;
beforeAll(async () => {
  photo = await samplePhoto('png', { width: 32, height: 32 });
});

describe('a component', () => {
  let stack: Stack;
  let impatient: Stack;
  beforeAll(async () => {
    stack = await startStack({ services: uploadServices });
    // For uploads whose probe never ends.
    impatient = await startStack({ beside: stack, services: ['gateway'], settings: { PROBE_TIMEOUT_MS: '3000' } });
  });
  afterAll(async () => {
    await impatient?.[Symbol.asyncDispose]();
    await stack?.[Symbol.asyncDispose]();
  });

  // The limits are for slow machines. services/gateway/src/config.test.ts has the deadlines that end each wait. That for Redis is half of
  // PROBE_TIMEOUT_MS, which must not be the one.
  const components: readonly [name: string, within: number, component: () => StoppableServer, gateway: () => Stack][] =
    [
      ['Redis', 45, () => stack.redis, () => stack],
      ['probe-worker', 45, () => stack.services['probe-worker'], () => impatient],
      ['auth-verifier', 90, () => stack.services['auth-verifier'], () => stack],
    ];

  const faults = [
    ['is down', 'kill', 'restart'],
    ['hangs', 'freeze', 'thaw'],
  ] as const;

  test.each(
    faults.flatMap(([fault, ...calls]) =>
      components.map(([name, ...rest]) => [name, fault, ...rest, ...calls] as const),
    ),
  )(
    '%s %s: uploads get 503 meanwhile, and succeed after it recovers',
    async (_name, _fault, seconds, component, gateway, begin, end) => {
      await component()[begin]();
      await expectUnavailable(gateway(), seconds);
      await expectOnlyPublishedMedia(stack);
      await component()[end]();
      await expectWorking(stack);
    },
  );

  test('Redis or the probe-worker is down: JPEGs are still published', async () => {
    const media = await samplePhoto('jpg', { width: 32, height: 24 });
    const record = { status: 200, text: expect.stringMatching(/"width":32,"height":24,.*"type":"jpg"/) };
    await stack.services['probe-worker'].kill();
    expect(await upload(stack, { media })).toMatchObject(record);
    await stack.redis.kill();
    expect(await upload(stack, { media })).toMatchObject(record);
    await stack.redis.restart();
    await stack.services['probe-worker'].restart();
    await expectWorking(stack);
  });

  test('the identity provider is down: uploads get 401 with Retry-After', async () => {
    await stack.services['sandbox-provider'].kill();
    const response = await upload(stack, { media: photo });
    expect(response).toMatchObject({ status: 401, text: expect.stringContaining('provider_unavailable') });
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    await stack.services['sandbox-provider'].restart();
    await expectWorking(stack);
  });

  test('an upload succeeds even if its probe-worker is killed during the job', async () => {
    await stack.services['probe-worker'].kill();
    await using ffprobe = await sleepyFfprobe();
    // The full sandbox forbids a shell script to start programs.
    const settings = { PATH: ffprobe.path, MEDIA_SANDBOX: 'limits-only' };
    await using sleepy = await startStack({ beside: stack, services: ['probe-worker'], settings });
    const response = upload(stack, { media: await sampleVideo('mp4', { width: 64, height: 48 }) });
    await ffprobe.called();
    await sleepy.services['probe-worker'].restart();
    expect(await response).toMatchObject({ status: 200, text: expect.stringContaining('"type":"mp4"') });
  });
});

describeWithMinio('MinIO', { stoppable: true }, (startMinio) => {
  const parts = new AsyncDisposableStack();
  let minio: RunningMinio;
  let stack: Stack;
  beforeAll(async () => {
    minio = parts.use(await startMinio());
    stack = parts.use(await startStack({ services: uploadServices, settings: minio.settings }));
  });
  afterAll(() => parts.disposeAsync());

  test.each(['kill', 'freeze'] as const)(
    '%s: uploads get 503 meanwhile, and succeed after it recovers',
    async (how) => {
      await expectWorking(stack);
      await minio.server?.[how]();
      await expectUnavailable(stack, 90);
      await minio.server?.[how === 'kill' ? 'restart' : 'thaw']();
      await expectWorking(stack);
    },
  );
});

async function expectUnavailable(stack: Stack, withinSeconds: number): Promise<void> {
  const response = await upload(stack, { media: photo, signal: AbortSignal.timeout(withinSeconds * 1000) });
  expect(response).toMatchObject({ status: 503, text: expect.stringContaining('"unavailable"') });
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
}

async function expectOnlyPublishedMedia(stack: Stack): Promise<void> {
  expect((await stack.stored('media')).length).toBe((await stack.stored('records')).length);
}

// Reconnecting must not require a restart of other services.
async function expectWorking(stack: Stack): Promise<void> {
  await waitUntil('a published upload', async () => (await upload(stack, { media: photo })).status === 200);
}
