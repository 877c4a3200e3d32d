import { createHmac } from 'node:crypto';
import type { RotatedSecret } from '@echodrop/service/env';

/** What is kept in the cache: verdicts, who used a proof, and whose verdicts are void. */
type Kind = 'verdict' | 'proof' | 'forgotten';

/** Names in the cache are keyed hashes, so that it knows no credential and nobody who reads it can look for one. */
export class CacheKeys {
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
    return this.#secrets.map((secret) => `echodrop:${kind}:${createHmac('sha256', secret).update(text).digest('hex')}`);
  }
}
