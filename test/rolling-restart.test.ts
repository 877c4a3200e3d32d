import { setTimeout as sleep } from 'node:timers/promises';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { startSpreadingProxy } from '@echodrop/testkit/servers/spreading-proxy';
import { type ServiceName, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';

// An idle connection may be closed while a request is on its way: HTTP cannot tell such a client that nothing was done.
const newConnection = { Connection: 'close' };
// Each upload costs a second of processor time in renditions.
const pauseMs = 1000;
const replicated = ['auth-verifier', 'probe-worker', 'rendition-worker', 'site'] as const;

// Two of everything but of the provider and the gateway; the gateways reach both verifiers at one address, as by a load balancer.
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
  media = await Promise.all([
    samplePhoto('jpg', { width: 64, height: 48 }),
    samplePhoto('png', { width: 64, height: 48 }),
    sampleVideo('mp4', { width: 64, height: 48 }),
  ]);
});
afterAll(() => parts.disposeAsync());

test('restarting one replica after another under load fails no upload and no page, and loses nothing', async () => {
  const ids: string[] = [];
  const failures: unknown[] = [];
  let shown = 0;
  const uploaded = async (turn: number) => {
    const kind = { version: turn % 2 ? 1 : 2, format: turn % 4 < 2 ? 'json' : 'xml' } as const;
    const sent = { ...kind, media: media[turn % media.length] as Buffer, headers: newConnection };
    const { status, text } = await atAny(gateways, turn, (gateway) => upload(gateway, sent));
    const id = /"id":"(\w+)"|<id>(\w+)<\/id>/.exec(text)?.slice(1).find(Boolean);
    if (status === 200 && id) ids.push(id);
    else failures.push({ ...kind, status, text });
  };
  const viewed = async (turn: number) => {
    const page = ids.at(-1) ?? '';
    const { status } = await atAny([first, second], turn, ({ site }) =>
      fetch(`${site}/${page}`, { headers: newConnection }),
    );
    if (status === 200) shown += 1;
    else failures.push({ page, status });
  };

  // Two uploads and a page more.
  const progress = () => Math.min(ids.length, 2 * shown);

  await meanwhile([uploaded, uploaded, viewed], failures, async () => {
    for (const stack of [first, second]) {
      await Promise.all(replicated.map((service) => restarted(stack, service, progress)));
    }
    for (const gateway of gateways) {
      const slow = await halfSent(gateway);
      const restarting = restarted(gateway, 'gateway', progress);
      await waitUntil('a gateway that refuses connections', 20_000, () => refuses(gateway));
      await slow.rest();
      ids.push((await slow.id()) ?? 'none');
      await restarting;
    }
  });

  expect(failures).toEqual([]);
  const records = await first.stored('records');
  expect(ids.filter((id) => !records.includes(`${id}.json`))).toEqual([]);
  expect(await first.stored('media')).toHaveLength(ids.length);
}, 120_000);

/** Repeats each of `loads`, with its own turns, until `work` is done; what they throw is a failure. */
async function meanwhile(
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

/** Asks the next of several; only a refused connection sends on to the one after it. */
async function atAny<T>(stacks: readonly Stack[], turn: number, ask: (stack: Stack) => Promise<T>): Promise<T> {
  const at = (n: number) => stacks[n % stacks.length] as Stack;
  try {
    return await ask(at(turn));
  } catch (error) {
    if (!isRefused(error)) throw error;
    return await ask(at(turn + 1));
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
}

async function refuses({ gateway }: Stack): Promise<boolean> {
  return fetch(`${gateway}/`).then(() => false, isRefused);
}

/** Stops and starts a service as an orchestrator does, and waits until uploads and pages have gone on without and with it. */
async function restarted(stack: Stack, service: ServiceName, progress: () => number): Promise<void> {
  const goneOn = async () => {
    const before = progress();
    await waitUntil('uploads and pages that go on', 20_000, async () => progress() >= before + 2);
  };
  await stack.services[service].stop();
  await goneOn();
  await stack.services[service].restart();
  await goneOn();
}

/** An upload whose second half is still to come. */
async function halfSent(gateway: Stack) {
  const { path, headers, body } = uploadRequest(gateway, { media: media[0] as Buffer });
  const client = parts.use(await RawClient.connect(gateway.gateway));
  client.head(path, headers, body.length);
  await client.flush(body.subarray(0, body.length / 2));
  await waitUntil('an upload that runs', 10_000, async () => {
    const metrics = await (await fetch(`${gateway.ops('gateway')}/metrics`)).text();
    return Number(/^echodrop_uploads_in_flight\{[^}]*\} (\d+)/m.exec(metrics)?.[1]) > 0;
  });
  return {
    rest: () => client.flush(body.subarray(body.length / 2)),
    id: async () => /"id":"(\w+)"/.exec((await client.response()).body)?.[1],
  };
}
