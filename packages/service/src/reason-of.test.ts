import { expect, test } from 'vitest';
import { z } from 'zod';
import { reasonOf, secretsIn } from './reason-of.ts';
import { Secret } from './secret.ts';

const coded = (message: string, code: string) => Object.assign(new Error(message), { code });

test.each([
  ['its message', new Error('object store responded with 503'), 'object store responded with 503'],
  [
    'its cause',
    new Error('verifier request failed', { cause: new Error('responded with 401') }),
    'verifier request failed: responded with 401',
  ],
  [
    'a cause that it repeats once',
    new Error('failed: ECONNREFUSED', { cause: new Error('ECONNREFUSED') }),
    'failed: ECONNREFUSED',
  ],
  ['its code', coded('operation not permitted', 'EPERM'), 'EPERM: operation not permitted'],
  ['a code that it repeats once', coded('EPERM: operation not permitted', 'EPERM'), 'EPERM: operation not permitted'],
  [
    'the code of a connection to several addresses',
    Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
    'ECONNREFUSED',
  ],
  ['nothing', undefined, 'unknown'],
  ['a text', 'thrown', 'unknown'],
])('names %s', (_, error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});

test('text from outside is one line of visible characters, of at most 500', () => {
  expect(reasonOf(new Error('a\n\u009b31m\u202eb'))).toBe('a\\u000a\\u009b31m\\u202eb');
  expect(Array.from(reasonOf(new Error('👍'.repeat(1000))))).toHaveLength(500);
});

test('quotes nothing that could not be read', () => {
  const hostile = (read: () => unknown) => {
    try {
      return read();
    } catch (error) {
      return reasonOf(error);
    }
  };
  expect(hostile(() => JSON.parse('hunter2'))).toBe('invalid JSON');
  expect(hostile(() => z.object({ hunter1: z.enum(['hunter2']) }).parse({ hunter1: 'hunter3' }))).toBe(
    'unexpected content',
  );
});

test('contains no secret: whole, its password as it is written or decoded, or cut off', () => {
  const key = new Secret('a'.repeat(20) + 'b'.repeat(200));
  const secrets = [new Secret('rediss+sentinel://user:p%40ss@one,two/mymaster'), key, new Secret('hunter2')];
  for (const text of ['p%40ss', "'p@ss'", 'hunter2', key.reveal(), key.reveal().slice(0, 128)]) {
    const reason = reasonOf(new Error(`ERR with args beginning with: ${text}`), secrets);
    expect(reason).toContain('[secret]');
    expect(reason).not.toMatch(/p%40ss|p@ss|hunter2|aaaa|bbbb/);
  }
  expect(reasonOf(new Error('ERR user of one'), secrets)).toBe('ERR user of one');
});

test('finds the secrets of settings', () => {
  const [one, two, three] = ['one', 'two', 'three'].map((text) => new Secret(text));
  const settings = {
    PORT: 1,
    NONE: undefined,
    S3_SECRET_KEY: one,
    VERIFIER_SECRET: [two],
    IDENTITY_PROVIDERS: [{ credentials: { key: three } }],
  };
  expect(secretsIn(settings)).toEqual([one, two, three]);
});
