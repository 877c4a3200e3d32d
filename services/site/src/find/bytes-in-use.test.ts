import { expect, test } from 'vitest';
import { BytesInUse } from './bytes-in-use.ts';

const most = 32 * 1024 * 1024;
const large = { key: 'renditions/a', etag: 'large', size: most - 1000 };
const small = { ...large, etag: 'small', size: 1000 };
const other = { key: 'renditions/b', etag: 'other', size: most };

test.each([
  ['a smaller', large, small],
  ['a larger', small, large],
])('an object that is replaced by %s one while readers of both overlap counts as two', (_, before, after) => {
  const inUse = new BytesInUse();
  const enter = (object: typeof other) => inUse.enter(object) ?? expect.fail('too many bytes are in use');
  for (const isFirstDone of [true, false]) {
    const leaves = [before, before, after].map(enter);
    expect(inUse.enter({ ...other, size: 1 })).toBeUndefined();
    for (const leave of isFirstDone ? leaves : leaves.reverse()) leave();
    enter(other)();
  }
});
