import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Fate, SeenRequest } from '@echodrop/testkit/servers/counting-proxy';
import type { LinkState } from '@echodrop/testkit/servers/spreading-proxy';
import { withoutLastPart } from '@echodrop/testkit/without-last-part';
import { onDispose } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';
import { decideRequests, isMediaCompletion, isMediaPut, isRecordPut } from '../store-requests.ts';

// Longer than a gateway retries to write a record.
const repeatedMs = 25_000;
const liesMs = 2000;

const isWrite = ({ method }: SeenRequest) => method === 'PUT' || method === 'POST';

/** Faults of a running store: slow, full, unreachable, or false responses. */
export const storeScenarios: readonly Scenario[] = [
  storeFault('the store swallows media', 'returns 200 for a write of media, unread, and keeps nothing', 5, (request) =>
    isMediaPut(request) ? 'swallowed unread' : 'passes',
  ),
  {
    ...storeFault(
      'the store swallows media after reading it',
      'returns 200 for a write of media, with its tag and checksum, and keeps nothing',
      4,
      (request) => (isMediaPut(request) ? 'swallowed' : 'passes'),
    ),
    isShort: true,
  },
  {
    ...storeFault(
      'the store swallows records after reading them',
      'returns 200 for a write of a record, with its tag and checksum, and keeps nothing',
      4,
      (request) => (isRecordPut(request) ? 'swallowed' : 'passes'),
    ),
    isShort: true,
  },
  {
    name: 'the store corrupts media',
    breaks: 'the store returns 200 for a write of media, with no checksum, and keeps other bytes',
    forSeconds: 3,
    isShort: true,
    begin: (day) => corruptMedia(day, false),
  },
  {
    name: 'the store corrupts media, and confirms the checksum',
    breaks: 'the store returns 200 for a write of media, with the correct tag and checksum, and keeps other bytes',
    forSeconds: 3,
    isShort: true,
    begin: (day) => corruptMedia(day, true),
  },
  {
    name: 'the store corrupts records, and confirms the checksum',
    breaks:
      'the store returns 200 for the first write of a record, with the correct tag and checksum, and keeps something else',
    forSeconds: 3,
    isShort: true,
    begin: corruptRecords,
  },
  {
    name: 'the store joins too few parts',
    breaks: 'the store completes multipart uploads without their last parts, and reports it',
    forSeconds: 1,
    isShort: true,
    begin: joinTooFewParts,
  },
  {
    name: 'the store keeps records with another size',
    breaks:
      'the store returns 200 for the first write of a record, with the correct tag and checksum, and keeps it with another size; clients retry with their keys',
    forSeconds: 0,
    begin: changeRecordSize,
  },
  {
    ...storeFault('a bit flips on the way to the store', 'gets every body with one bit flipped', 5, (request) =>
      request.method === 'PUT' ? 'changed' : 'passes',
    ),
    isShort: true,
  },
  {
    ...storeFault('the store is full', 'refuses every write with 507', 5, (request) =>
      isWrite(request) ? s3Error(507, 'XMinioStorageFull') : 'passes',
    ),
    isShort: true,
  },
  {
    ...storeFault(
      'the store returns SlowDown',
      'refuses half of all requests with 503 SlowDown',
      5,
      (_request, happens) => (happens(0.5) ? s3Error(503, 'SlowDown') : 'passes'),
    ),
    isShort: true,
  },
  storeFault('the store refuses everything', 'refuses all requests with 503 SlowDown', 20, () =>
    s3Error(503, 'SlowDown'),
  ),
  storeFault('the store is slow', 'takes 2 s for each request', 20, () => ({ afterMs: 2000 })),
  storeFault(
    'the store loses responses',
    'executes all requests, but cuts every fifth response',
    15,
    (_request, happens) => (happens(0.2) ? 'lost' : 'passes'),
  ),
  storeFault(
    'the store loses requests',
    'never receives every fifth request: its connection is cut',
    15,
    (_request, happens) => (happens(0.2) ? 'cut' : 'passes'),
  ),
  { ...unreachable('silent', 5), isShort: true },
  unreachable('silent', 25),
  unreachable('cut', 15),
  {
    name: 'lose a node of the store',
    breaks: 'one of four nodes of the store is killed, and restarted under load',
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

function storeFault(
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
      return decideRequests(system, (request) => fate(request, (probability) => random.happens(probability)));
    },
  };
}

// Detectable by the missing checksum, or by the tag of the stored object.
async function corruptMedia({ system, broke }: GameDay, isConfirmed: boolean): Promise<AsyncDisposable> {
  const kept = new Set<string>();
  broke();
  return decideRequests(system, (request) => {
    const key = keyOf(request);
    if (!isMediaPut(request) || request.query.has('uploadId') || kept.has(key)) return 'passes';
    kept.add(key);
    const after = () => system.store.put(key, Readable.from([Buffer.from('other bytes')]));
    return { status: 200, headers: { ETag: '"any"' }, body: '', after, isConfirmed };
  });
}

// Clients do not retry, because no retry can succeed.
async function joinTooFewParts({ system, load, broke }: GameDay): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  parts.use(
    await decideRequests(system, (request) => (isMediaCompletion(request) ? { replaced: withoutLastPart } : 'passes')),
  );
  broke();
  await Promise.all([1, 2, 3].map(() => load.send({ kind: 'large', patienceMs: 0 })));
  return parts.move();
}

async function corruptRecords({ system, broke }: GameDay): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const others = new OtherRecords(system, () => Buffer.from('{"another":"record"}'));
  broke();
  parts.use(others);
  parts.use(await decideRequests(system, (request) => others.fateOf(request)));
  return parts.move();
}

async function changeRecordSize({ system, load, broke }: GameDay): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const others = parts.use(new OtherRecords(system, withAnotherSize));
  let sending: Promise<unknown>[];
  {
    await using _lies = await decideRequests(system, (request) => others.fateOf(request));
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

/** Replaces records that the store confirmed. Disposing removes the replacements. */
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
    // Delays the concurrent second write of the record.
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
