import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { RotatedSecret } from '@echodrop/service/env';
import { z } from 'zod';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** A sign-in on the site: the provider's advertised address, its bearer token, and when the session ends (milliseconds since 1970). */
export type Session = z.infer<typeof sessionShape>;

const sessionShape = z.object({ provider: z.string(), token: z.string(), endsAt: z.number() });

/** Seals sessions, so that a browser can keep one and neither read nor change it. */
export class SessionSeals {
  readonly #keys: readonly [inUse: Buffer, ...others: Buffer[]];

  constructor([inUse, ...others]: RotatedSecret) {
    const keyOf = (secret = inUse) => Buffer.from(hkdfSync('sha256', secret.reveal(), '', 'echodrop sessions', 32));
    this.#keys = [keyOf(), ...others.map(keyOf)];
  }

  /** The sealed session in base64url: about as long as its token. */
  seal(session: Session): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, this.#keys[0], nonce);
    // Tokens are mostly base64url, which loses a quarter of its length.
    const text = deflateRawSync(JSON.stringify(session));
    return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64url');
  }

  /** The session, or undefined if it was not sealed with a present secret, or has ended. */
  open(sealed: string): Session | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length <= nonceBytes + tagBytes) return undefined;
    const text = this.#keys.map((key) => decrypt(bytes, key)).find((each) => each !== undefined);
    // Only a gateway has sealed it, so that it can be inflated without a limit.
    const session = text && sessionShape.parse(JSON.parse(inflateRawSync(text).toString()));
    return session && session.endsAt > Date.now() ? session : undefined;
  }
}

function decrypt(bytes: Buffer, key: Buffer): Buffer | undefined {
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
  try {
    decipher.final();
    return text;
  } catch {
    return undefined;
  }
}
