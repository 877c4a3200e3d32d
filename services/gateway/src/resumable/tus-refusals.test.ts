import { ERRORS } from '@tus/utils';
import { expect, test } from 'vitest';
import { refusalOf } from './tus-refusals.ts';

// What the library refuses before it has an error: no `Tus-Resumable` (server.js), an unknown method, and invalid headers.
const statuses = [...Object.values(ERRORS), { status_code: 412, body: '' }];

test.each(statuses)(
  'a status of the library has a refusal by name: $status_code $body',
  ({ status_code: status, body: text }) => {
    const refusal = refusalOf({ status, text }, 1024);
    // Only what the library calls its own failure is one of ours: it counts against the objective.
    expect(refusal.reason === 'unavailable').toBe(status === 500);
    if (status !== 500) expect(refusal.status).toBeLessThan(500);
  },
);

test('an unknown status below 500 is a fault of the request', () => {
  expect(refusalOf({ status: 418, text: 'Invalid Upload-Offset' }, 1024)).toMatchObject({ reason: 'tus_malformed' });
  expect(refusalOf({ status: 507 }, 1024)).toMatchObject({ reason: 'unavailable' });
});
