import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { signedGet } from './signed-get.ts';

const credentials = { consumerKey: 'ck', consumerSecret: "c's(!*) &", token: '12345-t', tokenSecret: 't+ü' };

test('the header has the documented form (interface, section 5.3)', () => {
  expect(signedGet('https://api.example.com/1/account/verify_credentials.json', credentials)).toMatch(
    /^OAuth realm="https:\/\/api\.example\.com\/", oauth_consumer_key="ck", oauth_signature_method="HMAC-SHA1", oauth_token="12345-t", oauth_timestamp="\d+", oauth_nonce="[0-9a-f]{32}", oauth_version="1\.0", oauth_signature="[A-Za-z0-9%]+%3D"$/,
  );
});

test.each([
  ['http://127.0.0.1:8085/verify.json', 'http://127.0.0.1:8085/verify.json', []],
  [
    'http://id.example:8000/verify?b=1+2&a=%C3%BC%3D&b=0',
    'http://id.example:8000/verify',
    ['a=%C3%BC%3D', 'b=0', 'b=1%202'],
  ],
])('signs a GET of %s as in RFC 5849', (address, base, query) => {
  const header = signedGet(address, credentials);
  const value = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(header)?.[1] ?? '';
  const parameters = ['consumer_key', 'nonce', 'signature_method', 'timestamp', 'token', 'version'].map(
    (name) => `oauth_${name}=${value(`oauth_${name}`)}`,
  );
  const signed = `GET&${encodeURIComponent(base)}&${encodeURIComponent([...query, ...parameters].join('&'))}`;
  const signature = createHmac('sha1', 'c%27s%28%21%2A%29%20%26&t%2B%C3%BC').update(signed).digest('base64');
  expect(decodeURIComponent(value('oauth_signature'))).toBe(signature);
});

test('every header is unique', () => {
  const address = 'http://127.0.0.1:8085/verify.json';
  expect(signedGet(address, credentials)).not.toBe(signedGet(address, credentials));
});
