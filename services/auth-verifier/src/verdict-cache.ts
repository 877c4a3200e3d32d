import { createHmac } from 'node:crypto';
import { type Credentials, type Verdict, verdictShape } from '@echodrop/contracts/verification';
import type { Secret } from '@echodrop/service/secret';

// The commands of Redis that the cache uses.
interface Cache {
  get(key: string): Promise<string | null>;
  set(key: string, value: string, unit: 'EX', seconds: number): Promise<unknown>;
}

interface Lifetimes {
  readonly verifiedSeconds: number;
  readonly refusedSeconds: number;
}

/** Remembered verdicts. A cache that is down costs speed, never an answer: then nothing is found and nothing is kept. */
export class VerdictCache {
  readonly #cache: Cache;
  readonly #keySecret: Secret;
  readonly #lifetimes: Lifetimes;

  constructor(cache: Cache, keySecret: Secret, lifetimes: Lifetimes) {
    this.#cache = cache;
    this.#keySecret = keySecret;
    this.#lifetimes = lifetimes;
  }

  /** Where the verdict on `credentials` at `provider` is kept: a keyed hash of all of them, so that the cache knows no credential. */
  keyOf(credentials: Credentials, provider: string): string {
    const hash = createHmac('sha256', this.#keySecret.reveal());
    return `verdict:1:${hash.update(JSON.stringify([provider, Object.entries(credentials).sort()])).digest('hex')}`;
  }

  async find(key: string): Promise<Verdict | undefined> {
    try {
      const kept = await this.#cache.get(key);
      return kept === null ? undefined : verdictShape.parse(JSON.parse(kept));
    } catch {
      return undefined;
    }
  }

  /** Keeps what a provider decided; that it could not be asked is never kept. */
  async remember(key: string, verdict: Verdict): Promise<void> {
    const seconds = this.#lifetime(verdict);
    if (seconds === 0) return;
    await this.#cache.set(key, JSON.stringify(verdictShape.encode(verdict)), 'EX', seconds).catch(() => {});
  }

  #lifetime({ outcome }: Verdict): number {
    if (outcome === 'verified') return this.#lifetimes.verifiedSeconds;
    return outcome === 'refused' ? this.#lifetimes.refusedSeconds : 0;
  }
}
