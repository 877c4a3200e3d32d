import { refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import { expect, test } from 'vitest';
import { refusalReasons } from './refusal-reasons.ts';

test('the reasons are those of the service', () => {
  expect([...refusalReasons].sort()).toEqual(Object.keys(refusals).sort());
});
