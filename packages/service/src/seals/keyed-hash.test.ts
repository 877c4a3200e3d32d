import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyedHash } from './keyed-hash.ts';

test('equals HMAC-SHA-256 for any key and text', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.string({ unit: 'binary', maxLength: 300 }), (key, text) => {
      const expected = createHmac('sha256', key).update(text).digest();
      expect(new KeyedHash(key).digest(text)).toEqual(expected);
      expect(new KeyedHash(Buffer.from(key)).hexDigest(text)).toBe(expected.toString('hex'));
    }),
  );
});
