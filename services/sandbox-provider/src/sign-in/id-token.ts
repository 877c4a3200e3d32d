import { generateKeyPairSync, sign } from 'node:crypto';
import type { Grant } from './grants.ts';

const lifetimeSeconds = 600;

let keys: ReturnType<typeof createKeys> | undefined;

/** The public key of this process as a JWK Set. */
export function publicKeys(): object {
  return { keys: [{ ...keyPair().publicKey.export({ format: 'jwk' }), kid: 'sandbox', use: 'sig', alg: 'RS256' }] };
}

/** The ID token of a grant (OpenID Connect Core 1.0, section 2), signed with RS256. */
export function issueIdToken({ user, client, nonce }: Grant, issuer: string): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    sub: String(user.id),
    aud: client.id,
    iat: now,
    exp: now + lifetimeSeconds,
    nonce,
  };
  const signed = [{ alg: 'RS256', typ: 'JWT', kid: 'sandbox' }, claims].map(encode).join('.');
  return `${signed}.${sign('sha256', Buffer.from(signed), keyPair().privateKey).toString('base64url')}`;
}

// The keys are made when first needed: that takes a tenth of a second.
function keyPair() {
  keys ??= createKeys();
  return keys;
}

function createKeys() {
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
