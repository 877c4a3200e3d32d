import { type Verdict, verdictShape } from '@echodrop/contracts/verification';
import type { RotatedSecret } from '@echodrop/service/env';
import type { Forgeries } from '@echodrop/service/seals/forgeries';
import { Sealer } from '@echodrop/service/seals/sealer';
import { z } from 'zod';

/** A verdict, and the count of forgotten users when it was requested. */
export interface Decision {
  readonly verdict: Verdict;
  readonly since: number;
}

const entryShape = z.object({ since: z.number(), at: z.number(), verdict: verdictShape });

/** A cached verdict; `at` is its time in ms since 1970. */
export type CachedVerdict = z.output<typeof entryShape>;

/** Encodes verdicts for the cache, each sealed for the `shown` hash of its proof. */
export class VerdictCodec {
  readonly #sealer: Sealer;
  readonly #forgeries: Pick<Forgeries, 'report'>;

  constructor(secret: RotatedSecret, forgeries: Pick<Forgeries, 'report'>) {
    this.#sealer = new Sealer(secret, 'verdicts');
    this.#forgeries = forgeries;
  }

  encode(shown: string, { verdict, since }: Decision): string {
    return this.#sealer.wrap([shown], JSON.stringify({ since, at: Date.now(), verdict: verdictShape.encode(verdict) }));
  }

  /** Undefined for an invalid entry; reports a wrong seal. */
  decode(shown: string, entry: string): CachedVerdict | undefined {
    const text = this.#sealer.unwrap([shown], entry);
    if (text !== undefined) return entryShape.safeParse(JSON.parse(text)).data;
    this.#forgeries.report('verdict', {});
    return undefined;
  }
}
