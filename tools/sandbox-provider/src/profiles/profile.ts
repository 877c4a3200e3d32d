import { exactNumber } from '@echodrop/record';
import type { ProofFault } from '../check-proof.ts';
import type { SandboxUser } from '../users.ts';

/** A correct response of a provider. */
export interface ProviderResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A kind of identity provider, with the responses of its real software. */
export interface SandboxProfile {
  readonly path: string;
  readonly proof: 'signature' | 'bearer';
  /** The response body for a user; `origin` is the requested one. */
  readonly user: (user: SandboxUser, origin: URL) => ProviderResponse['body'];
  /** The response to each fault; `unknown` for those that it does not distinguish. */
  readonly refusals: Readonly<Partial<Record<ProofFault, ProviderResponse>> & { unknown: ProviderResponse }>;
}

/** An id for JSON: a number if it is one. */
export function idAsNumber({ id }: SandboxUser): unknown {
  return typeof id === 'bigint' ? exactNumber(id) : id;
}

/** The creation time of every account. */
export const createdAt = new Date('2026-01-01T00:00:00Z');
