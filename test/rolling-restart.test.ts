import { setTimeout as sleep } from 'node:timers/promises';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { startSpreadingProxy } from '@echodrop/testkit/servers/spreading-proxy';
import { type ServiceName, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

// A server may close an idle connection while a request is in flight; the client then cannot know whether it was processed.
const newConnection = { Connection: 'close' };
// The renditions of an upload take a second of CPU time.
const pauseMs = 1000;
const replicated = ['auth-verifier', 'probe-worker', 'rendition-worker', 'site'] as const;

// Both verifiers are behind one address, as with a load balancer.
const parts = new AsyncDisposableStack();
let first: Stack;
let second: Stack;
let gateways: readonly Stack[];
let media: readonly Buffer[];
beforeAll(async () => {
  const settings = { SHUTDOWN_DELAY_SECONDS: '1' };
  first = parts.use(await startStack({ services: ['sandbox-provider', ...replicated], settings }));
  second = parts.use(await startStack({ beside: first, services: replicated, settings }));
  const verifiers = parts.use(
    await startSpreadingProxy([first, second].map(({ verifier }) => Number(new URL(verifier).port))),
  );
  const behind = { ...settings, VERIFIER_URL: `http://127.0.0.1:${verifiers.port}` };
  const gateway = async () => parts.use(await startStack({ beside: first, services: ['gateway'], settings: behind }));
  gateways = await Promise.all([gateway(), gateway()]);
  // A PNG needs a probe-worker, a JPEG does not. Renditions of videos would take most of the processor time.
  media = await Promise.all((['jpg', 'png'] as const).map((type) => samplePhoto(type, { width: 64, height: 48 })));
});
afterAll(() => parts.disposeAsync());

test('a rolling restart under load fails no upload or page, and loses nothing', async () => {
  const ids: string[] = [];
  const failures: unknown[] = [];
  let shown = 0;
  const uploadOnce = async (turn: number) => {
    const kind = { version: turn % 2 ? 1 : 2, format: turn % 4 < 2 ? 'json' : 'xml' } as const;
    const sent = { ...kind, media: media[turn % 4 < 2 ? 0 : 1] as Buffer, headers: newConnection };
    const { status, text } = await sendToAny(gateways, turn, (gateway) => upload(gateway, sent));
    const id = /"id":"(\w+)"|<id>(\w+)<\/id>/.exec(text)?.slice(1).find(Boolean);
    if (status === 200 && id) ids.push(id);
    else failures.push({ ...kind, status, text });
  };
  const viewOnce = async (turn: number) => {
    const page = ids.at(-1) ?? '';
    const { status } = await sendToAny([first, second], turn, ({ site }) =>
      fetch(`${site}/${page}`, { headers: newConnection }),
    );
    if (status === 200) shown += 1;
    else failures.push({ page, status });
  };

  const progress = () => Math.min(ids.length, 2 * shown);

  await runDuring([uploadOnce, uploadOnce, viewOnce], failures, async () => {
    for (const stack of [first, second]) {
      await Promise.all(replicated.map((service) => restart(stack, service, progress)));
    }
    for (const gateway of gateways) {
      const slow = await sendHalf(gateway);
      const restarting = restart(gateway, 'gateway', progress);
      await waitUntil('refused connections', () => refuses(gateway));
      await slow.rest();
      ids.push((await slow.id()) ?? 'none');
      await restarting;
    }
  });

  expect(failures).toEqual([]);
  const records = await first.stored('records');
  expect(ids.filter((id) => !records.includes(`${id}.json`))).toEqual([]);
  expect(await first.stored('media')).toHaveLength(ids.length);
});

/** Repeats each of `loads` until `work` is done; errors count as failures. */
async function runDuring(
  loads: readonly ((turn: number) => Promise<void>)[],
  failures: unknown[],
  work: () => Promise<void>,
): Promise<void> {
  let isOver = false;
  const loops = loads.map(async (load, first) => {
    for (let turn = first; !isOver; turn += 1) {
      await load(turn).catch((error) => failures.push(error));
      await sleep(pauseMs);
    }
  });
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(loops);
  }
}

/** Sends a request to one of `stacks`; if the connection is refused, to the next one. */
async function sendToAny<T>(stacks: readonly Stack[], turn: number, send: (stack: Stack) => Promise<T>): Promise<T> {
  const at = (n: number) => stacks[n % stacks.length] as Stack;
  try {
    return await send(at(turn));
  } catch (error) {
    if (!isRefused(error)) throw error;
    return await send(at(turn + 1));
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
}

async function refuses({ gateway }: Stack): Promise<boolean> {
  return fetch(`${gateway}/`).then(() => false, isRefused);
}

/** Stops and starts a service; each time, waits until uploads and page views succeed. */
async function restart(stack: Stack, service: ServiceName, progress: () => number): Promise<void> {
  const waitForProgress = async () => {
    const before = progress();
    await waitUntil('further uploads and page views', async () => progress() >= before + 2);
  };
  await stack.services[service].stop();
  await waitForProgress();
  await stack.services[service].restart();
  await waitForProgress();
}

/** Sends the first half of an upload. */
async function sendHalf(gateway: Stack) {
  const { path, headers, body } = uploadRequest(gateway, { media: media[0] as Buffer });
  const client = parts.use(await RawClient.connect(gateway.gateway));
  client.head(path, headers, body.length);
  await client.flush(body.subarray(0, body.length / 2));
  await waitUntil('an upload in flight', async () => {
    const metrics = await gateway.metrics('gateway');
    return Number(/^echodrop_uploads_in_flight\{[^}]*\} (\d+)/m.exec(metrics)?.[1]) > 0;
  });
  return {
    rest: () => client.flush(body.subarray(body.length / 2)),
    id: async () => /"id":"(\w+)"/.exec((await client.response()).body)?.[1],
  };
}
