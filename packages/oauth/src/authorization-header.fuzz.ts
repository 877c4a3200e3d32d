import { anyHeader } from '@echodrop/testkit/fuzz/any-header';
import { fuzz } from '@echodrop/testkit/fuzz/fuzz';
import fc from 'fast-check';
import { expect } from 'vitest';
import { readAuthorization } from './authorization-header.ts';

const words = [
  ...['OAuth ', 'oauth\t', 'Bearer ', 'realm="', 'a="1"', 'oauth_token="x"', 'oauth_nonce="%20"', '__proto__="y"'],
  ...['%', '%zz', '%00', '%F0%9F%98%80', '%ED%A0%80', '%22', '%2C', '+'],
];
const scheme = fc.constantFrom('OAuth ', 'oauth\t', 'OAuth', '');
const cases = fc.tuple(scheme, anyHeader(words)).map((parts) => parts.join(''));

fuzz('a header Authorization is read, or is none, and is read alike when it is written again', cases, (header) => {
  const parameters = readAuthorization(header);
  if (!parameters) return;
  const spelled = [...parameters].map((pair) => pair.map(encodeURIComponent));
  const written = spelled.map(([name, value]) => `${name}="${value}"`);
  expect(readAuthorization(`OAuth ${written.join(', ')}`)).toEqual(parameters);
});
