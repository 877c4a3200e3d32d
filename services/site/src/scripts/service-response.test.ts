import { expect, test } from 'vitest';

// The browser's scripts have no types for Node.
const { refusalOf } = await import(new URL('./service-response.js', import.meta.url).href);

const body = (message: string) => JSON.stringify({ errors: [{ message, reason: 'media_too_large' }] });

test.each([
  [413, body('Media too large.'), 'Media too large.'],
  [413, '<html>', /^The file is too large for a proxy .* Ask the operator/],
  [413, '', /^The file is too large for a proxy/],
  [502, '<html>', 'Unexpected response from the server (status 502).'],
])('says what a response of status %i with the body %j means', (status, text, message) => {
  expect(refusalOf({ status, text, retryAfter: null })).toEqual(
    typeof message === 'string' ? message : expect.stringMatching(message),
  );
});
