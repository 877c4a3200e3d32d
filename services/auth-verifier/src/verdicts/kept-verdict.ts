import { type Verdict, verdictShape } from '@echodrop/contracts/verification';
import type { RotatedSecret } from '@echodrop/service/env';
import type { Forgeries } from '@echodrop/service/forgeries';
import { Sealer } from '@echodrop/service/sealer';
import { z } from 'zod';

/** A verdict, and how many users had been forgotten when it was asked for. */
export interface Decided {
  readonly verdict: Verdict;
  readonly since: number;
}

const keptShape = z.object({ since: z.number(), at: z.number(), verdict: verdictShape });

/** A verdict as the cache keeps it; `at` in milliseconds is when it was given. */
export type KeptVerdict = z.output<typeof keptShape>;

/** Writes verdicts for the cache and reads them back, each sealed for what was shown: `shown` of its claim. */
export class KeptVerdicts {
  readonly #sealer: Sealer;
  readonly #forgeries: Pick<Forgeries, 'report'>;

  constructor(secret: RotatedSecret, forgeries: Pick<Forgeries, 'report'>) {
    this.#sealer = new Sealer(secret, 'verdicts');
    this.#forgeries = forgeries;
  }

  write(shown: string, { verdict, since }: Decided): string {
    return this.#sealer.wrap([shown], JSON.stringify({ since, at: Date.now(), verdict: verdictShape.encode(verdict) }));
  }

  /** Undefined for what cannot be read, which is as good as nothing; what no auth-verifier has written for `shown` is counted. */
  read(shown: string, kept: string): KeptVerdict | undefined {
    const text = this.#sealer.unwrap([shown], kept);
    if (text !== undefined) return keptShape.safeParse(JSON.parse(text)).data;
    this.#forgeries.report('verdict', {});
    return undefined;
  }
}
