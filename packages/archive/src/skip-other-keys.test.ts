import { newMediaId } from '@echodrop/record';
import { expect, test } from 'vitest';
import { daysPrefix, listingKey } from './listing-keys.ts';
import { skipOtherKeys } from './skip-other-keys.ts';

const flat = 'by-time/';
const days = daysPrefix(flat);

test.each([
  [flat, '._8241086079999-4AaBXzv6nZ', '0'],
  [flat, 'days/', '\u{10ffff}'],
  [days, '._82410', '0'],
  [days, '82410/.DS_Store', '82410/8'],
  [days, '82410/8241086079999-.tmp', '82410/8241086079999-0'],
  [days, '82410/@eaDir/a', '82410/\u{10ffff}'],
  [days, '82410/9', '82410/\u{10ffff}'],
  [days, '@eaDir/a', '\u{10ffff}'],
  [days, '82410/8241086079999-4AaBXzv6n!', '82410/8241086079999-4AaBXzv6n!'],
  [days, '82410/8241086079999-4AaBXzv6nZ.bak', '82410/8241086079999-4AaBXzv6nZ.bak'],
  [days, '\uffff', '\uffff'],
])('a list below %s goes on after %s at %s', (prefix, key, position) => {
  expect(skipOtherKeys(prefix, `${prefix}${key}`)).toBe(`${prefix}${position}`);
});

test('a list skips no entry', () => {
  const random = (below: number) => Math.floor(Math.random() * below);
  const characters = '.!/-09@AZ_az~';
  for (let round = 0; round < 5000; round += 1) {
    const own = `${String(random(10 ** 13)).padStart(13, '0')}-${newMediaId()}`;
    const [prefix, key] = round % 2 ? [flat, `${flat}${own}`] : [days, listingKey(flat, own)];
    const kept = prefix.length + random(key.length - prefix.length + 1);
    const other = `${key.slice(0, kept)}${characters[random(characters.length)]}${key.slice(kept + random(3))}`;
    const position = skipOtherKeys(prefix, other);
    expect(position >= other, other).toBe(true);
    expect(key > other, `${other} ${key}`).toBe(key > position);
  }
});
