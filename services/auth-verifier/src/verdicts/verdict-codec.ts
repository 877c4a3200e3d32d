import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
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

const [cipher, nonceBytes, tagBytes] = ['aes-256-gcm', 12, 16] as const;

/**
 * Encodes verdicts for the cache. Each is encrypted with its proof, which Redis does not have, because it names a user; and sealed for the `shown`
 * hash of its proof, because a client has its own proof and could encrypt another verdict.
 */
export class VerdictCodec {
  readonly #sealer: Sealer;
  readonly #forgeries: Pick<Forgeries, 'report'>;

  constructor(secret: RotatedSecret, forgeries: Pick<Forgeries, 'report'>) {
    this.#sealer = new Sealer(secret, 'verdicts');
    this.#forgeries = forgeries;
  }

  encode(shown: string, { verdict, since }: Decision): string {
    const text = JSON.stringify({ since, at: Date.now(), verdict: verdictShape.encode(verdict) });
    return this.#sealer.wrap([shown], encrypt(shown, text));
  }

  /** Undefined for an invalid entry; reports a wrong seal. */
  decode(shown: string, entry: string): CachedVerdict | undefined {
    const encrypted = this.#sealer.unwrap([shown], entry);
    if (encrypted !== undefined) return entryShape.safeParse(JSON.parse(decrypt(shown, encrypted))).data;
    this.#forgeries.report('verdict', {});
    return undefined;
  }
}

function encrypt(shown: string, text: string): string {
  const nonce = randomBytes(nonceBytes);
  const encryption = createCipheriv(cipher, keyOf(shown), nonce);
  const encrypted = [encryption.update(text), encryption.final()];
  return Buffer.concat([nonce, encryption.getAuthTag(), ...encrypted]).toString('base64');
}

/** @throws Error if `encrypted` is not from `encrypt` */
function decrypt(shown: string, encrypted: string): string {
  const bytes = Buffer.from(encrypted, 'base64');
  const decryption = createDecipheriv(cipher, keyOf(shown), bytes.subarray(0, nonceBytes));
  decryption.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  return decryption.update(bytes.subarray(nonceBytes + tagBytes)).toString() + decryption.final();
}

function keyOf(shown: string): Buffer {
  return hash('sha256', `echodrop verdict ${shown}`, 'buffer');
}
