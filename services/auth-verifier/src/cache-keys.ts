import { createHmac } from 'node:crypto';
import type { RotatedSecret } from '@echodrop/service/env';

/** What is kept in the cache: verdicts; who is asking; what was asked without an outcome; who used a proof; whose verdicts are void. */
type Kind = 'verdict' | 'question' | 'unanswered' | 'use' | 'forgotten';

// Of what is kept: releases that keep other shapes do not see each other's.
const version = 1;

/** Names in the cache are keyed hashes, so that it knows no credential and nobody who reads it can look for one. */
export class CacheKeys {
  /** Where it is counted how often a user was forgotten. */
  readonly forgets = `echodrop:${version}:forgets`;
  readonly #secrets: readonly string[];

  constructor(secret: RotatedSecret) {
    this.#secrets = secret.flatMap((each) => (each ? [each.reveal()] : [])).sort();
  }

  /**
   * The names of one thing: one for each secret, in an order on which all verifiers agree. While secrets are exchanged every verifier
   * writes, and looks, under all that it knows, so that those which have begun the exchange and those which have not see the same.
   */
  of(kind: Kind, ...parts: readonly string[]): readonly string[] {
    const text = JSON.stringify([kind, ...parts]);
    return this.#secrets.map(
      (secret) => `echodrop:${version}:${kind}:${createHmac('sha256', secret).update(text).digest('hex')}`,
    );
  }
}
