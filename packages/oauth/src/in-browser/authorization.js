// @ts-check
import { hmac } from './hashes/hmac.js';
import { sha1 } from './hashes/legacy.js';
import { bytesToHex, randomBytes, utf8ToBytes } from './hashes/utils.js';

/** The library comes as a classic script that has run before. @type {typeof import('oauth-1.0a')} */
const OAuth = Reflect.get(globalThis, 'OAuth');

/**
 * The Authorization value of a GET of `address`, signed with HMAC-SHA1, in the shape of docs/interface.md section 5.3: what `signedGet` is outside of
 * browsers. A page on plain http has no `crypto.subtle`, so that a library makes the hash.
 *
 * @param {string} address
 * @param {{ consumerKey: string, consumerSecret: string, token: string, tokenSecret: string }} credentials
 * @throws {TypeError} for what is no address
 */
export function signedGet(address, { consumerKey, consumerSecret, token, tokenSecret }) {
  const { origin, pathname, searchParams } = new URL(address);
  const oauth = new OAuth({
    consumer: { key: consumerKey, secret: consumerSecret },
    signature_method: 'HMAC-SHA1',
    realm: `${origin}/`,
    hash_function: (base, key) => base64(hmac(sha1, utf8ToBytes(key), utf8ToBytes(base))),
  });
  // The library's own is made by Math.random.
  oauth.getNonce = () => bytesToHex(randomBytes(16));
  // Our own reading of the query: see signatureOf.
  const data = Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]));
  const signed = oauth.authorize({ method: 'GET', url: origin + pathname, data }, { key: token, secret: tokenSecret });
  return oauth.toHeader(signed).Authorization;
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
  return btoa(String.fromCharCode(...bytes));
}
