import { expect, test } from 'vitest';
import { prefersRepresentation } from './preferences.ts';

// The examples without the value are of RFC 7240 section 2.
test.each([
  ['return=representation', true],
  ['respond-async, Return = "Representation"; foo="some, parameter"', true],
  [', return=representation,', true],
  ['return=minimal, return=representation', false],
  ['return', false],
  ['return=""', false],
  ['foo="x, return=representation"', false],
  ['foo; bar="x, return=representation"', false],
  ['"return=representation', false],
  ['return=representation, "open', true],
  ['', false],
])('Prefer: %s', (header, expected) => {
  expect(prefersRepresentation(header)).toBe(expected);
});
