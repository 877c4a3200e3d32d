import { hash } from 'node:crypto';
import type { VerificationRequest } from '@echodrop/contracts/verification';
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
  /** For each secret the keys of verdict, lease and pending request. */
  readonly names: readonly string[];
  /** For each secret the key that records the use of a signed header; empty if uses are not limited. */
  readonly uses: readonly string[];
  /** The value for each of `uses`: the client. */
  readonly users: readonly string[];
}

/** Derives the keys of a proof (docs/decisions/verification.md). Undefined if the header may be a replay: no `signatureIdentity`. */
export function deriveProofKeys(
  keys: CacheKeys,
  reuse: Reuse,
  { credentials, clientAddress }: VerificationRequest,
  provider: Provider,
): ProofKeys | undefined {
  const isOnce = reuse !== 'ttl' && isSingleUse(credentials, provider);
  const signed = isOnce ? signatureIdentity(credentials, provider) : undefined;
  if (isOnce && !signed) return undefined;
  const proof = proofOf(credentials, provider);
  const shown = reuse === 'ttl' ? proof : [...proof, clientAddress];
  const proofs = keys.hashes('proof', shown);
  const uses = signed ? keys.hashes('use', signed) : [];
  const kinds = ['verdict', 'question', 'unanswered'] as const;
  return {
    isShared: reuse !== 'off',
    proof: proofs.join(),
    shown: hash('sha256', JSON.stringify(shown)),
    names: proofs.flatMap((each) => kinds.map((kind) => keys.name(kind, each))),
    uses: uses.map((each) => keys.name('use', each)),
    users: signed ? keys.hashes('client', [...signed, clientAddress]) : [],
  };
}
