import type { RotatedSecret } from '@echodrop/service/env';
import { KeyedHash } from '@echodrop/service/keyed-hash';

// Of what is kept: releases that keep other shapes do not see each other's.
const version = 2;
// A hash tag: one script reads and writes names of several kinds and secrets, which a Redis Cluster allows within one slot (docs/decisions/026).
const prefix = `{echodrop:${version}}`;

/** What is hashed: a proof, a single use of a signed header, the client that used one, a provider's user. */
type Thing = 'proof' | 'use' | 'client' | 'user';

/** What is kept in the cache: verdicts; who is asking; what was asked without an outcome; who used a proof; whose verdicts are void. */
type Kind = 'verdict' | 'question' | 'unanswered' | 'use' | 'forgotten';

/** Names in the cache are keyed hashes, so that it knows no credential and nobody who reads it can look for one. */
export class CacheKeys {
  /** Where it is counted how often a user was forgotten. */
  readonly forgets = `${prefix}:forgets`;
  readonly #secrets: readonly KeyedHash[];

  constructor(secret: RotatedSecret) {
    const known = secret.flatMap((each) => (each ? [each.reveal()] : [])).sort();
    this.#secrets = known.map((each) => new KeyedHash(each));
  }

  /** How many secrets are known, and so how many hashes each thing has. */
  get count(): number {
    return this.#secrets.length;
  }

  /**
   * The hashes of one thing: one for each secret, in an order on which all verifiers agree. While secrets are exchanged every verifier
   * writes, and looks, under all that it knows, so that those which have begun the exchange and those which have not see the same.
   */
  hashes(thing: Thing, parts: readonly string[]): readonly string[] {
    const text = JSON.stringify([thing, ...parts]);
    return this.#secrets.map((secret) => secret.hexDigest(text));
  }

  /** Where `kind` of a hashed thing is kept. */
  name(kind: Kind, hash: string): string {
    return `${prefix}:${kind}:${hash}`;
  }
}
