import { hash } from 'node:crypto';
import type { Credentials, ProviderUser } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import type { RotatedSecret } from '@echodrop/service/env';
import type { RedisNames } from '@echodrop/service/redis/redis-names';
import { KeyedHash } from '@echodrop/service/seals/keyed-hash';
import { proofOf } from '../proof.ts';

// Format of the entries: releases with different formats do not share entries.
const version = 3;

/** The entries of one proof, under the first secret. */
export interface ProofKeys {
  /** An unkeyed hash of the proof, which is never stored. It identifies the proof in this process, and encrypts its verdict. */
  readonly proofHash: string;
  readonly verdict: string;
  /** Exists while a verifier queries the provider. */
  readonly lease: string;
  /** Exists while a query is running, and after one without an outcome. */
  readonly pending: string;
}

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
    this.#secrets = secret.flatMap((each) => (each ? [new KeyedHash(each.reveal())] : []));
  }

  ofProof(credentials: Credentials, provider: Provider): ProofKeys {
    const proof = proofOf(credentials, provider);
    const [digest] = this.#hashes('proof', proof);
    return {
      proofHash: hash('sha256', JSON.stringify(proof)),
      verdict: `${this.#prefix}:verdict:${digest}`,
      lease: `${this.#prefix}:lease:${digest}`,
      pending: `${this.#prefix}:pending:${digest}`,
    };
  }

  /** The keys that mark a user as forgotten, one for each secret. */
  ofForgotten({ provider, subject }: ProviderUser): readonly string[] {
    return this.#hashes('user', [provider, subject]).map((digest) => `${this.#prefix}:forgotten:${digest}`);
  }

  #hashes(kind: 'proof' | 'user', parts: readonly string[]): readonly string[] {
    const text = JSON.stringify([kind, ...parts]);
    return this.#secrets.map((secret) => secret.hexDigest(text));
  }
}
