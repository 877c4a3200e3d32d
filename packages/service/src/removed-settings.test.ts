import { expect, test } from 'vitest';
import { findRemovedSettings } from './removed-settings.ts';

test.each([
  ['auth-verifier', 'retry', [expect.stringMatching(/^VERDICT_REUSE was removed and has no effect\. .*VERDICT_TTL/)]],
  ['auth-verifier', '', []],
  ['gateway', 'retry', []],
])('%s with VERDICT_REUSE=%s', (service, VERDICT_REUSE, found) => {
  expect(findRemovedSettings(service, { VERDICT_REUSE })).toEqual(found);
});
