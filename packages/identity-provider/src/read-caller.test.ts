import { Secret } from '@echodrop/service/secret';
import { expect, test } from 'vitest';
import { providerProfiles } from './provider-profiles.ts';
import { readCaller, userIdOf } from './read-caller.ts';

const advertised = 'https://identity.example/verify.json';
const provider = { advertised, upstream: advertised, profile: providerProfiles.oauth1 };
const secret = new Secret('a secret of this test');

test.each([
  ['{"id":12345,"screen_name":"mia"}', '12345', 12345n],
  ['{"id":1059182745930317825,"screen_name":"mia"}', '1059182745930317825', 1059182745930317825n],
  ['{"id":18446744073709551615,"screen_name":"mia"}', '18446744073709551615', 18446744073709551615n],
  ['{"id":"12345","screen_name":"mia"}', '12345', 12345n],
  ['{"id":9007199254740993,"id_str":"9007199254740993","screen_name":"mia"}', '9007199254740993', 9007199254740993n],
  ['{"id":1,"id_str":"2","screen_name":"mia"}', '2', 2n],
  ['{"id":1,"id_str":"","screen_name":"mia"}', '1', 1n],
  ['{"id":1,"id_str":null,"screen_name":"mia"}', '1', 1n],
  ['{"id":0,"screen_name":"mia"}', '0', 0n],
  ['{"id":-9223372036854775808,"screen_name":"mia"}', '-9223372036854775808', -(2n ** 63n)],
  [' {"id":1,"screen_name":"mia","__proto__":{"id":2}}\n', '1', 1n],
])('reads a caller from %s', (response, subject, userId) => {
  expect(readCaller(response, provider, secret)).toEqual({ provider: advertised, subject, userId, screenName: 'mia' });
});

test.each([
  '',
  'null',
  '[]',
  '"mia"',
  '12345',
  '{"id":1,"screen_name":"mia"',
  '{"screen_name":"mia"}',
  '{"id":null,"screen_name":"mia"}',
  '{"id":"","screen_name":"mia"}',
  '{"id":{"id":1},"screen_name":"mia"}',
  '{"id":1.5,"screen_name":"mia"}',
  '{"id":1e400,"screen_name":"mia"}',
  '{"id":true,"screen_name":"mia"}',
  '{"id":1}',
  '{"id":1,"screen_name":""}',
  '{"id":1,"screen_name":5}',
  '{"user":{"id":1,"screen_name":"mia"}}',
  '{"__proto__":{"id":1,"screen_name":"mia"}}',
  '['.repeat(60_000),
  `{"id":1,"screen_name":"${'m'.repeat(256)}"}`,
  `{"id":"${'1'.repeat(256)}","screen_name":"mia"}`,
  `{"id":${'1'.repeat(256)},"screen_name":"mia"}`,
])('finds no caller in %.60s', (response) => {
  expect(readCaller(response, provider, secret)).toBeUndefined();
});

test.each([
  'mia',
  '',
  '01',
  '-0',
  '+1',
  '1.0',
  '１',
  ' 1',
  '18446744073709551616',
  '-9223372036854775809',
  '9'.repeat(40),
])('the subject %j becomes a stable number of 63 bits', (subject) => {
  const id = userIdOf(subject, advertised, secret);
  expect(id).toBe(userIdOf(subject, advertised, secret));
  expect(id >= 0n && id < 2n ** 63n).toBe(true);
});

test('the number depends on subject, provider and secret', () => {
  const ids = [
    userIdOf('mia', advertised, secret),
    userIdOf('mio', advertised, secret),
    userIdOf('mia', 'https://other.example/', secret),
    userIdOf('mia', advertised, new Secret('another secret')),
    userIdOf('","mia', advertised, secret),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  // A fixed value: another hash would turn these users into other users.
  expect(ids[0]).toBe(7878378867556882428n);
});
