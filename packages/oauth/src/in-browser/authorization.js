// @ts-check
import { hmac } from './hashes/hmac.js';
import { sha1 } from './hashes/legacy.js';
import { bytesToHex, randomBytes, utf8ToBytes } from './hashes/utils.js';

/** A classic script has loaded the library before. @type {typeof import('oauth-1.0a')} */
const OAuth = Reflect.get(globalThis, 'OAuth');

/**
 * `signedGet` for browsers. A page on plain HTTP has no `crypto.subtle`, so a library makes the hash.
 *
 * @param {string} address
 * @param {{ consumerKey: string, consumerSecret: string, token: string, tokenSecret: string }} credentials
 * @throws {TypeError} for an invalid address
 */
export function signedGet(address, { consumerKey, consumerSecret, token, tokenSecret }) {
  const { origin, pathname, searchParams } = new URL(address);
  const oauth = new OAuth({
    consumer: { key: consumerKey, secret: consumerSecret },
    signature_method: 'HMAC-SHA1',
    realm: `${origin}/`,
    hash_function: (base, key) => base64(hmac(sha1, utf8ToBytes(key), utf8ToBytes(base))),
  });
  // The library's own nonce comes from Math.random.
  oauth.getNonce = () => bytesToHex(randomBytes(16));
  // The library's parser of the query is wrong: see signatureOf.
  const data = Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]));
  const signed = oauth.authorize({ method: 'GET', url: origin + pathname, data }, { key: token, secret: tokenSecret });
  return oauth.toHeader(signed).Authorization;
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  return btoa(String.fromCharCode(...bytes));
}
