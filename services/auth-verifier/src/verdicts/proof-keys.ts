import { hash } from 'node:crypto';
import type { Credentials } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { isSingleUse, proofOf, signatureIdentity } from '../proof.ts';
import type { CacheKeys } from './cache-keys.ts';

/** VERDICT_REUSE: which repeats of a proof may use its verdict: all, those from the same client address, none. */
export type Reuse = 'ttl' | 'retry' | 'off';

/** The Redis keys of a proof. Keys and hashes are HMACs and reveal no credential or address. */
export interface ProofKeys {
  /** Whether repeats share its verdict. */
  readonly isShared: boolean;
  /** Identifies all requests that share a verdict. */
  readonly proof: string;
  /** An unkeyed hash of the same, never stored: the place of the verdict's seal. */
  readonly shown: string;
  /** For each secret the keys of verdict, lease and unanswered request. */
  readonly names: readonly string[];
  /** For each secret the key that records the use of a signed header; empty if uses are not limited. */
  readonly uses: readonly string[];
  /** The value for each of `uses`: the client. */
  readonly users: readonly string[];
}

/** Derives the keys of proofs, according to VERDICT_REUSE (docs/decisions/014). */
export class ProofKeyring {
  readonly #keys: CacheKeys;
  readonly #reuse: Reuse;

  constructor(keys: CacheKeys, reuse: Reuse) {
    this.#keys = keys;
    this.#reuse = reuse;
  }

  /** Undefined for a header that may be a replay because it has no `signatureIdentity`. */
  derive(credentials: Credentials, provider: Provider, clientAddress: string): ProofKeys | undefined {
    const isOnce = this.#reuse !== 'ttl' && isSingleUse(credentials, provider);
    const signed = isOnce ? signatureIdentity(credentials, provider) : undefined;
    if (isOnce && !signed) return undefined;
    const proof = proofOf(credentials, provider);
    const shown = this.#reuse === 'ttl' ? proof : [...proof, clientAddress];
    const proofs = this.#keys.hashes('proof', shown);
    const uses = signed ? this.#keys.hashes('use', signed) : [];
    return {
      isShared: this.#reuse !== 'off',
      proof: proofs.join(),
      shown: hash('sha256', JSON.stringify(shown)),
      names: proofs.flatMap((hash) =>
        (['verdict', 'question', 'unanswered'] as const).map((kind) => this.#keys.name(kind, hash)),
      ),
      uses: uses.map((hash) => this.#keys.name('use', hash)),
      users: signed ? this.#keys.hashes('client', [...signed, clientAddress]) : [],
    };
  }
}
