import { hash } from 'node:crypto';
import type { Credentials } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { isGoodOnce, proofOf, signedOnce } from '../proof.ts';
import type { CacheKeys } from './cache-keys.ts';

/** VERDICT_REUSE: whose repeats of a proof are believed while its verdict lives: anybody's, those from the same client address, nobody's. */
export type Reuse = 'ttl' | 'retry' | 'off';

/** What the cache is asked about a proof that was shown. Names and hashes in it are keyed: they tell no credential and no address. */
export interface Claim {
  /** Whether its verdict is shared with repeats; else every use asks for its own. */
  readonly isShared: boolean;
  /** The same for all who share a verdict. */
  readonly proof: string;
  /** A hash of the same, which every verifier computes alike, and none writes down: a verdict is sealed for it. */
  readonly shown: string;
  /** For each secret where the verdict, the question and the unanswered question are kept. */
  readonly names: readonly string[];
  /** For each secret where the use of a header that is good once is written down; empty where uses do not matter. */
  readonly uses: readonly string[];
  /** For each of `uses` what is written there: who used it. */
  readonly users: readonly string[];
}

/** Makes claims as VERDICT_REUSE says (docs/decisions/014). */
export class Claims {
  readonly #keys: CacheKeys;
  readonly #reuse: Reuse;

  constructor(keys: CacheKeys, reuse: Reuse) {
    this.#keys = keys;
    this.#reuse = reuse;
  }

  /** Undefined for a header of which nobody can say that it is no replay, as it does not tell what makes it that one (`signedOnce`). */
  of(credentials: Credentials, provider: Provider, clientAddress: string): Claim | undefined {
    const isOnce = this.#reuse !== 'ttl' && isGoodOnce(credentials, provider);
    const signed = isOnce ? signedOnce(credentials, provider) : undefined;
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
