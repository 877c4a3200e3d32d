import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '@echodrop/testkit/seeded-random';
import type { Ledger, LedgerEntry } from './ledger.ts';
import { sendRemoval } from './send-removal.ts';
import { nothingSent, sendUpload, type Wanted } from './send-upload.ts';
import type { System } from './start-system.ts';
import type { MediaKind, UniqueMedia } from './unique-media.ts';

interface LoadOptions {
  readonly system: System;
  readonly ledger: Ledger;
  readonly media: UniqueMedia;
  readonly random: SeededRandom;
  /** Uploads started per second, however slow earlier ones are. */
  readonly perSecond: number;
  /** How long a client retries. */
  readonly patienceMs: number;
}

/** Properties of an upload; random unless set. */
interface Choice {
  readonly kind?: MediaKind;
  readonly isKeyed?: boolean;
  readonly version?: 1 | 2;
  readonly user?: Wanted['user'];
  readonly patienceMs?: number;
  /** Whether its owner removes it once acknowledged. */
  readonly isUnwanted?: boolean;
}

/** The scenario name for uploads while nothing is broken. */
export const calm = 'calm';

// Limits memory and connections while responses are slow.
const maxConcurrent = 150;
const unwantedShare = 0.15;
// Maximum random delay before a removal, so that renditions may be in progress.
const maxKeptMs = 2000;
const recoveryMs = 60_000;
const recoveryPauseMs = 250;
// Recovered: a probed photo and a video succeed, with both versions. Only a new signature needs the provider; secrets and
// bearer tokens have a cached verdict.
const recoveries = [
  { kind: 'png', version: 2, user: 'signing', isKeyed: true },
  { kind: 'mp4', version: 1, isKeyed: false },
] as const;

/** Sends uploads of all kinds at a steady rate until stopped, and records each in the ledger. */
export class Load {
  readonly #options: LoadOptions;
  readonly #stopped = new AbortController();
  readonly #running = new Set<Promise<LedgerEntry>>();
  readonly #beginning: Promise<void>;
  /** Failures of uploads with a new connection per attempt, without refused connections. */
  readonly failures: string[] = [];
  #turn = 0;
  #scenario = calm;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#beginning = this.#begin();
  }

  /** The scenario of further uploads. */
  set scenario(name: string) {
    this.#scenario = name;
  }

  async send(choice: Choice = {}): Promise<LedgerEntry> {
    const { kind, isKeyed, version, user, patienceMs = this.#options.patienceMs, isUnwanted = false } = choice;
    const { system, ledger, media, random } = this.#options;
    const { bytes, sha256, kind: made } = media.make(kind);
    const scenario = this.#scenario;
    const by = version ?? random.pick([1, 2] as const);
    const wanted: Wanted = {
      version: by,
      format: random.pick(['xml', 'json']),
      user: user ?? (by === 2 && random.happens(0.3) ? 'bearer' : 'signing'),
      text: `${made} ${random.hex(24)}`,
      media: bytes,
      key: (isKeyed ?? random.happens(0.5)) ? random.hex(32) : undefined,
      opensConnection: random.happens(0.5),
    };
    const keptMs = random.between(0, maxKeptMs);
    this.#turn += 1;
    const sending = sendUpload(system, wanted, patienceMs, this.#turn).then(async (ended) => {
      const entry: LedgerEntry = {
        ...ended,
        scenario,
        endedIn: this.#scenario,
        text: wanted.text,
        sha256,
        size: bytes.length,
        kind: made,
        version: by,
        user: wanted.user,
        isKeyed: wanted.key !== undefined,
      };
      ledger.record(entry);
      if (wanted.opensConnection && ended.why !== undefined && ended.why !== nothingSent) this.failures.push(ended.why);
      if (isUnwanted && entry.outcome === 'acknowledged') await this.#remove(entry, keptMs);
      return entry;
    });
    this.#running.add(sending);
    return sending.finally(() => this.#running.delete(sending));
  }

  /** Waits until an upload of each kind is acknowledged. @throws Error after a minute */
  async waitForRecovery(): Promise<void> {
    const began = performance.now();
    const isLate = () => performance.now() - began > recoveryMs;
    const acknowledged = async (choice: Choice) => {
      for (;;) {
        const { outcome, why } = await this.send({ ...choice, patienceMs: 0 });
        if (outcome === 'acknowledged') return;
        if (isLate())
          throw new Error(`no ${choice.kind} by version ${choice.version} acknowledged in a minute: ${why}`);
        await sleep(recoveryPauseMs);
      }
    };
    await Promise.all(recoveries.map(acknowledged));
  }

  /** Waits for all uploads begun so far, so that the next scenario is not blamed for them. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Stops starting uploads, and waits for the rest. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#beginning;
    await Promise.all(this.#running);
  }

  async #remove(entry: LedgerEntry, afterMs: number): Promise<void> {
    const { system, ledger, patienceMs } = this.#options;
    const { id = '' } = entry;
    await sleep(afterMs);
    ledger.recordRemoval(id, 'unknown');
    if (await sendRemoval(system, entry, patienceMs)) ledger.recordRemoval(id, 'acknowledged');
  }

  async #begin(): Promise<void> {
    const { perSecond, random } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      if (this.#running.size < maxConcurrent) void this.send({ isUnwanted: random.happens(unwantedShare) });
      await sleep(1000 / perSecond, undefined, { signal }).catch(() => {});
    }
  }
}
