import { providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { expect, test } from 'vitest';
import { signatureIdentity, tokenIn } from './proof.ts';

const provider = { advertised: 'https://a/', upstream: 'https://a/', profile: providerProfiles.oauth1 };

function identityOf(authorization: string) {
  return signatureIdentity({ version: 2, provider: 'https://a/', authorization }, provider);
}

function header(nonce: string, realm = ''): string {
  return `OAuth ${realm}oauth_consumer_key="c", oauth_token="t%2B", oauth_timestamp="1", oauth_nonce="${nonce}"`;
}

// As recorded clients send them.
test.each([
  'OAuth realm="", oauth_signature="xPe2L18IZA8x9EBN6D4%2FxuPMjXY%3D", oauth_consumer_key="c", oauth_timestamp="1", oauth_version="1.0", oauth_nonce="n1", oauth_token="t%2B"',
  'OAuth realm="http%3A%2F%2Fa%2F", oauth_consumer_key="c", oauth_token="t%2B", oauth_timestamp="1", oauth_nonce="n1"',
  'OAuth realm="http://a/",oauth_consumer_key="c",oauth_timestamp="1",oauth_nonce="n1",oauth_token="t%2B",oauth_signature="60Uutk8tW0tTpCDuCU2uWdXEKQo%3D",',
])('identifies a typical header by consumer, token, time and nonce: %s', (authorization) => {
  expect(identityOf(authorization)).toEqual(identityOf(header('n1')));
  expect(identityOf(authorization)).toBeDefined();
});

test.each([
  ['an encoded nonce within the realm', header('n2', 'realm="x,oauth%5Fnonce=n1", ')],
  ['a comma within the realm', header('n2', 'realm="x,y", ')],
  ['an equals sign within the realm', header('n2', 'realm="x=", ')],
  ['an ampersand within the realm', header('n2', 'realm="x&y", ')],
  ['a separator within another value', `${header('n2')}, x="y=oauth%5Fnonce"`],
  ['an encoded name', header('n2').replace('oauth_nonce', 'oauth%5Fnonce')],
  ['another encoded name', `${header('n2')}, x%20="y"`],
  ['a name that PHP reads as oauth_nonce', `${header('n2')}, oauth.nonce="n1"`],
  ['a nonce that is encoded twice', header('%256e1')],
])('a header that other servers may parse differently has no identity: %s', (_, authorization) => {
  expect(identityOf(authorization)).toBeUndefined();
});

test.each(['n+1', 'n%201', ' n1', 'n1%00'])(
  'a nonce that other servers decode or trim to n1 has the same identity: %s',
  (nonce) => {
    expect(identityOf(header(nonce))).toEqual(identityOf(header('n1')));
  },
);

test('1 MB of white space in a token takes linear time (quadratic would take minutes)', () => {
  const token = `x${' '.repeat(2 ** 20)}x`;
  const began = process.threadCpuUsage();
  expect(tokenIn(`Bearer ${token}`)).toBe(token);
  const { user, system } = process.threadCpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(2000);
});
