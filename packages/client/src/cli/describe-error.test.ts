import { expect, test } from 'vitest';
import { exchange } from '../exchange.ts';
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

test('describes a blocked port once', async () => {
  const sent = exchange(new AbortController().signal, 1, () => fetch('http://127.0.0.1:1'));
  expect(await sent.catch(describeError)).toBe('fetch blocks the port of the upload service. Use another port.');
});
