import { type Verdict, verdictShape } from '@echodrop/contracts/verification';
import { z } from 'zod';

/** A verdict, and how many users had been forgotten when it was asked for. */
export interface Decided {
  readonly verdict: Verdict;
  readonly since: number;
}

const keptShape = z.object({ since: z.number(), at: z.number(), verdict: verdictShape });

/** A verdict as the cache keeps it; `at` in milliseconds is when it was given. */
export type KeptVerdict = z.output<typeof keptShape>;

export function writeKept({ verdict, since }: Decided): string {
  return JSON.stringify({ since, at: Date.now(), verdict: verdictShape.encode(verdict) });
}

/** Undefined for what cannot be read: it is as good as nothing. */
export function readKept(text: string): KeptVerdict | undefined {
  try {
    return keptShape.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
