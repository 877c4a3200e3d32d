import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { type Verdict, verdictShape } from '@echodrop/contracts/verification';
import type { RotatedSecret } from '@echodrop/service/env';
import type { Forgeries } from '@echodrop/service/seals/forgeries';
import { Sealer } from '@echodrop/service/seals/sealer';
import { z } from 'zod';

/** A verdict, and the count of forgotten users before its query. */
export interface Decision {
  readonly verdict: Verdict;
  readonly since: number;
}

const entryShape = z.object({ since: z.number(), at: z.number(), verdict: verdictShape });

/** A cached verdict; `at` is its time in ms since 1970. */
export type CachedVerdict = z.output<typeof entryShape>;

const [cipher, nonceBytes, tagBytes] = ['aes-256-gcm', 12, 16] as const;

/**
 * Encodes verdicts for the cache. A verdict names a user, so it is encrypted with the hash of its proof, which Redis does not have. A client
 * knows its own proof and could encrypt another verdict with it, so each is also sealed for that hash.
 */
export class VerdictCodec {
  readonly #sealer: Sealer;
  readonly #forgeries: Pick<Forgeries, 'report'>;

  constructor(secret: RotatedSecret, forgeries: Pick<Forgeries, 'report'>) {
    this.#sealer = new Sealer(secret, 'verdicts');
    this.#forgeries = forgeries;
  }

  encode(proofHash: string, { verdict, since }: Decision): string {
    const text = JSON.stringify({ since, at: Date.now(), verdict: verdictShape.encode(verdict) });
    return this.#sealer.wrap([proofHash], encrypt(proofHash, text));
  }

  /** The verdict of an entry, or undefined if the entry is invalid. A wrong seal is reported. */
  decode(proofHash: string, entry: string): CachedVerdict | undefined {
    const encrypted = this.#sealer.unwrap([proofHash], entry);
    if (encrypted !== undefined) return entryShape.safeParse(JSON.parse(decrypt(proofHash, encrypted))).data;
    this.#forgeries.report('verdict', {});
    return undefined;
  }
}

function encrypt(proofHash: string, text: string): string {
  const nonce = randomBytes(nonceBytes);
  const encryption = createCipheriv(cipher, keyOf(proofHash), nonce);
  const encrypted = [encryption.update(text), encryption.final()];
  return Buffer.concat([nonce, encryption.getAuthTag(), ...encrypted]).toString('base64');
}

/** @throws Error if `encrypted` is not from `encrypt` */
function decrypt(proofHash: string, encrypted: string): string {
  const bytes = Buffer.from(encrypted, 'base64');
  const decryption = createDecipheriv(cipher, keyOf(proofHash), bytes.subarray(0, nonceBytes));
  decryption.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  return decryption.update(bytes.subarray(nonceBytes + tagBytes)).toString() + decryption.final();
}

function keyOf(proofHash: string): Buffer {
  return hash('sha256', `echodrop verdict ${proofHash}`, 'buffer');
}
