import { expect, test } from 'vitest';
import { defaultDeadlines } from './deadlines.ts';

// As for a page. services/site/src/dependency-failures.integration.test.ts shows that these deadlines end the wait of a reader.
test('reading an object, and then looking for another, takes less than 25 s whenever the store hangs', () => {
  const { callMs, idleMs } = defaultDeadlines;
  const readingMs = callMs + idleMs;
  const lookingMs = callMs;
  expect(readingMs + lookingMs).toBeLessThan(25_000);
});
