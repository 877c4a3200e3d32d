import { generateKeyPairSync, sign } from 'node:crypto';
import type { Grant } from './grants.ts';

const lifetimeSeconds = 600;

/** Signs ID tokens with a key of this process (RS256). */
export class IdTokens {
  #keys: ReturnType<typeof createKeys> | undefined;

  /** The public key as a JWK Set. */
  get jwks(): object {
    const { publicKey } = this.#pair();
    return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'sandbox', use: 'sig', alg: 'RS256' }] };
  }

  /** The ID token of a grant (OpenID Connect Core 1.0, section 2). */
  issue({ user, client, nonce }: Grant, issuer: string, now = Math.floor(Date.now() / 1000)): string {
    const claims = {
      iss: issuer,
      sub: String(user.id),
      aud: client.id,
      iat: now,
      exp: now + lifetimeSeconds,
      nonce,
    };
    const signed = [{ alg: 'RS256', typ: 'JWT', kid: 'sandbox' }, claims].map(encode).join('.');
    return `${signed}.${sign('sha256', Buffer.from(signed), this.#pair().privateKey).toString('base64url')}`;
  }

  // Made when first needed: it takes a tenth of a second.
  #pair() {
    this.#keys ??= createKeys();
    return this.#keys;
  }
}

function createKeys() {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
