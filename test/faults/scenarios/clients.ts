import { setTimeout as sleep } from 'node:timers/promises';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { uploadRequest } from '@echodrop/testkit/upload';
import { onDispose, runUntilDisposed } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';

const bodyBytes = 600_000;
const sentFirst = 40_000;
const dribble = { bytes: 3000, everyMs: 1000 };
const connectedAtOnce = 50;

/** Clients that misbehave. */
export const clientScenarios: readonly Scenario[] = [{ ...aborting(60), isShort: true }, aborting(200), slow(500, 30)];

function aborting(count: number): Scenario {
  return {
    name: `${count} aborting clients`,
    breaks: `${count} clients close their connections during their uploads, or right after the last byte`,
    forSeconds: 1,
    begin: async ({ system, random, broke }) => {
      await inGroups(count, async () => {
        await using client = await begin(system);
        const { body } = client;
        await client.raw.flush(
          body.subarray(0, random.happens(0.5) ? body.length : random.between(1, body.length - 1)),
        );
      });
      broke();
      return onDispose(() => {});
    },
  };
}

function slow(count: number, forSeconds: number): Scenario {
  return {
    name: `${count} slow clients`,
    breaks: `${count} clients send ${dribble.bytes} bytes a second each`,
    forSeconds,
    begin: async ({ system, broke }) => {
      await using parts = new AsyncDisposableStack();
      const clients: OpenUpload[] = [];
      await inGroups(count, async () => {
        const client = parts.use(await begin(system));
        client.raw.write(client.body.subarray(0, sentFirst));
        clients.push(client);
      });
      broke();
      parts.use(runUntilDisposed((over) => dribbleUntil(over, clients)));
      return parts.move();
    },
  };
}

async function dribbleUntil(over: AbortSignal, clients: readonly OpenUpload[]): Promise<void> {
  for (let at = sentFirst; !over.aborted && at < bodyBytes; at += dribble.bytes) {
    for (const { raw, body } of clients) raw.write(body.subarray(at, at + dribble.bytes));
    await sleep(dribble.everyMs, undefined, { signal: over }).catch(() => {});
  }
}

interface OpenUpload extends AsyncDisposable {
  readonly raw: RawClient;
  readonly body: Buffer;
}

/** Sends the head of a valid upload, which may be published if it is sent completely. */
async function begin(system: GameDay['system']): Promise<OpenUpload> {
  const media = Buffer.concat([await samplePhoto('jpg', { width: 64, height: 48 }), Buffer.alloc(bodyBytes)]);
  const { path, headers, body } = uploadRequest(system, { media, message: 'unfinished' });
  const raw = await RawClient.connect(system.gateways[0] ?? '');
  raw.head(path, headers, body.length);
  return { raw, body, [Symbol.asyncDispose]: () => raw[Symbol.asyncDispose]() };
}

async function inGroups(count: number, act: () => Promise<void>): Promise<void> {
  for (let done = 0; done < count; done += connectedAtOnce) {
    await Promise.all(Array.from({ length: Math.min(connectedAtOnce, count - done) }, act));
  }
}
