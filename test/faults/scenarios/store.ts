import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Fate, SeenRequest } from '@echodrop/testkit/servers/counting-proxy';
import type { LinkState } from '@echodrop/testkit/servers/spreading-proxy';
import { withoutLastPart } from '@echodrop/testkit/without-last-part';
import { onDispose } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';
import { decided, isMediaCompletion, isMediaPut, isRecordPut } from '../store-requests.ts';

// Longer than a gateway tries to write a record.
const repeatedMs = 25_000;
const liesMs = 2000;

const isWrite = ({ method }: SeenRequest) => method === 'PUT' || method === 'POST';

/** What a store may do short of dying: be slow, full, out of reach, and say what is not so. */
export const storeScenarios: readonly Scenario[] = [
  answering('the store swallows media', 'says 200 to a write of media, unread, and keeps nothing', 5, (request) =>
    isMediaPut(request) ? 'swallowed unread' : 'passes',
  ),
  {
    ...answering(
      'the store swallows media that it has read',
      'says 200 to a write of media, with its tag and checksum, and keeps nothing',
      4,
      (request) => (isMediaPut(request) ? 'swallowed' : 'passes'),
    ),
    isShort: true,
  },
  {
    ...answering(
      'the store swallows records that it has read',
      'says 200 to a write of a record, with its tag and checksum, and keeps nothing',
      4,
      (request) => (isRecordPut(request) ? 'swallowed' : 'passes'),
    ),
    isShort: true,
  },
  {
    name: 'the store keeps other bytes',
    breaks: 'the store says 200 to a write of media, with no checksum, and keeps other bytes in its place',
    forSeconds: 3,
    isShort: true,
    begin: (day) => keepOtherBytes(day, false),
  },
  {
    name: 'the store keeps other bytes, and confirms the checksum',
    breaks:
      'the store says 200 to a write of media, with the tag and the checksum of what was sent, and keeps other bytes in its place',
    forSeconds: 3,
    isShort: true,
    begin: (day) => keepOtherBytes(day, true),
  },
  {
    name: 'the store keeps other records, and confirms the checksum',
    breaks:
      'the store says 200 to the first write of a record, with the tag and the checksum of what was sent, and keeps something else in its place',
    forSeconds: 3,
    isShort: true,
    begin: keepOtherRecords,
  },
  {
    name: 'the store joins fewer parts',
    breaks: 'the store completes multipart uploads without their last parts, and says so',
    forSeconds: 1,
    isShort: true,
    begin: joinFewerParts,
  },
  {
    name: 'the store keeps records of another size',
    breaks:
      'the store says 200 to the first write of a record, with the tag and the checksum of what was sent, and keeps it with another size; clients repeat with their keys',
    forSeconds: 0,
    begin: keepRecordsOfAnotherSize,
  },
  {
    ...answering('a bit flips on the way to the store', 'gets every body with one bit of it flipped', 5, (request) =>
      request.method === 'PUT' ? 'changed' : 'passes',
    ),
    isShort: true,
  },
  {
    ...answering('the store is full', 'refuses every write with 507', 5, (request) =>
      isWrite(request) ? s3Error(507, 'XMinioStorageFull') : 'passes',
    ),
    isShort: true,
  },
  {
    ...answering('the store says SlowDown', 'refuses half of all requests with 503 SlowDown', 5, (_request, happens) =>
      happens(0.5) ? s3Error(503, 'SlowDown') : 'passes',
    ),
    isShort: true,
  },
  answering('the store refuses everything', 'refuses all requests with 503 SlowDown', 20, () =>
    s3Error(503, 'SlowDown'),
  ),
  answering('the store is slow', 'takes 2 s for each request', 20, () => ({ afterMs: 2000 })),
  answering(
    'the store loses answers',
    'does what is requested, and every fifth answer is cut',
    15,
    (_request, happens) => (happens(0.2) ? 'lost' : 'passes'),
  ),
  answering(
    'the store loses requests',
    'does not hear every fifth request, whose connection is cut',
    15,
    (_request, happens) => (happens(0.2) ? 'cut' : 'passes'),
  ),
  { ...unreachable('silent', 5), isShort: true },
  unreachable('silent', 25),
  unreachable('cut', 15),
  {
    name: 'lose a node of the store',
    breaks: 'one of four nodes of the store dies, and comes back under load',
    forSeconds: 20,
    on: 'four nodes',
    begin: async ({ system, random, broke }) => {
      const node = random.pick(system.nodes);
      await node.kill();
      broke();
      return onDispose(() => node.restart());
    },
  },
];

function answering(
  name: string,
  does: string,
  forSeconds: number,
  fate: (request: SeenRequest, happens: (probability: number) => boolean) => Fate,
): Scenario {
  return {
    name,
    breaks: `the store ${does}`,
    forSeconds,
    begin: ({ system, random, broke }) => {
      broke();
      return decided(system, (request) => fate(request, (probability) => random.happens(probability)));
    },
  };
}

// The answer without a checksum shows it, or the tag of the object that is there.
async function keepOtherBytes({ system, broke }: GameDay, isConfirmed: boolean): Promise<AsyncDisposable> {
  const kept = new Set<string>();
  broke();
  return decided(system, (request) => {
    const key = keyOf(request);
    if (!isMediaPut(request) || request.query.has('uploadId') || kept.has(key)) return 'passes';
    kept.add(key);
    const after = () => system.store.put(key, Readable.from([Buffer.from('other bytes')]));
    return { status: 200, headers: { ETag: '"any"' }, body: '', after, isConfirmed };
  });
}

// Its clients give up: nothing that they send can be stored.
async function joinFewerParts({ system, load, broke }: GameDay): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  parts.use(
    await decided(system, (request) => (isMediaCompletion(request) ? { replaced: withoutLastPart } : 'passes')),
  );
  broke();
  await Promise.all([1, 2, 3].map(() => load.send({ kind: 'large', patienceMs: 0 })));
  return parts.move();
}

async function keepOtherRecords({ system, broke }: GameDay): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const others = new OtherRecords(system, () => Buffer.from('{"another":"record"}'));
  broke();
  parts.use(others);
  parts.use(await decided(system, (request) => others.fateOf(request)));
  return parts.move();
}

async function keepRecordsOfAnotherSize({ system, load, broke }: GameDay): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const others = parts.use(new OtherRecords(system, withAnotherSize));
  let sending: Promise<unknown>[];
  {
    await using _lies = await decided(system, (request) => others.fateOf(request));
    broke();
    sending = [1, 2, 3].map(() => load.send({ kind: 'jpg', isKeyed: true, patienceMs: repeatedMs }));
    await sleep(liesMs);
  }
  await Promise.all(sending);
  return parts.move();
}

function withAnotherSize(record: Buffer): Buffer {
  const { size, ...others } = JSON.parse(record.toString());
  return Buffer.from(JSON.stringify({ ...others, size: size + 1 }));
}

/** Records that a store keeps in place of those that it confirms; disposing removes them. */
class OtherRecords implements AsyncDisposable {
  readonly #store: ObjectStore;
  readonly #alter: (record: Buffer) => Buffer;
  readonly #seen = new Set<string>();
  readonly #kept: string[] = [];

  constructor({ store }: GameDay['system'], alter: (record: Buffer) => Buffer) {
    this.#store = store;
    this.#alter = alter;
  }

  fateOf(request: SeenRequest): Fate {
    const key = keyOf(request);
    if (!isRecordPut(request)) return 'passes';
    // The other write of the record, which comes at the same time, must not be first.
    if (this.#seen.has(key)) return { afterMs: 200 };
    this.#seen.add(key);
    const after = async (record: Buffer) => {
      if ((await this.#store.putIfAbsent(key, this.#alter(record))) === 'created') this.#kept.push(key);
    };
    return { status: 200, headers: { ETag: '"any"' }, body: '', after, isConfirmed: true };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const key of this.#kept) await this.#store.remove(key);
  }
}

function keyOf({ path }: SeenRequest): string {
  return path.slice(path.indexOf('/', 1) + 1);
}

function unreachable(state: Exclude<LinkState, 'passes'>, forSeconds: number): Scenario {
  return {
    name: `${state === 'cut' ? 'cut off' : 'partition'} the store, ${forSeconds} s`,
    breaks: state === 'cut' ? 'connections to the store are reset' : 'nothing reaches the store, without an error',
    forSeconds,
    begin: async ({ system, broke }) => {
      system.links.store.turn(state);
      broke();
      return onDispose(() => system.links.store.turn('passes'));
    },
  };
}

function s3Error(status: number, code: string): Fate {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>sent by a test</Message></Error>`;
  return { status, headers: { 'Content-Type': 'application/xml' }, body };
}
