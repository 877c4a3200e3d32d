import type { RotatedSecret } from '@echodrop/service/env';
import type { RedisNames } from '@echodrop/service/redis/redis-names';
import { KeyedHash } from '@echodrop/service/seals/keyed-hash';

// Format of the entries: releases with different formats do not share entries.
const version = 3;

/** Hashed values: a proof, a use of a signed header, the client that used it, a user of a provider. */
type Thing = 'proof' | 'use' | 'client' | 'user';

/** Entries: verdicts, leases of running requests, requests without an outcome, users of proofs, users with void verdicts. */
type Kind = 'verdict' | 'question' | 'unanswered' | 'use' | 'forgotten';

/** Keys in the cache are HMACs, which reveal no credentials and cannot be guessed. */
export class CacheKeys {
  /** Counts how often any user was forgotten. */
  readonly forgets: string;
  readonly #prefix: string;
  readonly #secrets: readonly KeyedHash[];

  constructor(secret: RotatedSecret, names: RedisNames) {
    // A hash tag: the scripts use several keys, which Redis Cluster allows within one slot only (docs/decisions/verification.md).
    this.#prefix = names.versioned(version);
    this.forgets = `${this.#prefix}:forgets`;
    const known = secret.flatMap((each) => (each ? [each.reveal()] : [])).sort();
    this.#secrets = known.map((each) => new KeyedHash(each));
  }

  /** Number of secrets, and of hashes per value. */
  get count(): number {
    return this.#secrets.length;
  }

  /**
   * One hash per secret, in the same order in all verifiers. During a rotation verifiers read and write under all their secrets, so
   * that they share entries with verifiers that have only one of them.
   */
  hashes(thing: Thing, parts: readonly string[]): readonly string[] {
    const text = JSON.stringify([thing, ...parts]);
    return this.#secrets.map((secret) => secret.hexDigest(text));
  }

  name(kind: Kind, hash: string): string {
    return `${this.#prefix}:${kind}:${hash}`;
  }
}
