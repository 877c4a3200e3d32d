import { exactNumber } from '@echodrop/record';
import type { BearerFault } from '../check-bearer.ts';
import type { SignatureFault } from '../check-signature.ts';
import type { SandboxUser } from '../users.ts';

export type Fault = SignatureFault | BearerFault;

/** What a provider says to a question. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One kind of identity provider, as its real software answers. */
export interface SandboxProfile {
  readonly path: string;
  readonly proof: 'signature' | 'bearer';
  /** The user as this kind shows them; `origin` is where it was asked. */
  readonly user: (user: SandboxUser, origin: URL) => Answer['body'];
  /** What it says to each fault; those that it does not tell apart are as unknown. */
  readonly refusals: Readonly<Partial<Record<Fault, Answer>> & { unknown: Answer }>;
}

/** An id as JSON has it where it is a number if it can be. */
export function idAsNumber({ id }: SandboxUser): unknown {
  return typeof id === 'bigint' ? exactNumber(id) : id;
}

/** When every account of the sandbox was made. */
export const createdAt = new Date('2026-01-01T00:00:00Z');
