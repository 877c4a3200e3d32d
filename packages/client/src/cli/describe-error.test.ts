import { expect, test } from 'vitest';
import { describeError } from './describe-error.ts';

test.each([
  [
    'a timeout',
    new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
    /^No response in time\. /,
  ],
  ['another DOMException', new DOMException('The object is closed.', 'InvalidStateError'), /^The object is closed\.$/],
  ['an error without a message', new TypeError(''), /^TypeError$/],
])('describes %s', (_, error, message) => {
  expect(describeError(error)).toMatch(message);
});
