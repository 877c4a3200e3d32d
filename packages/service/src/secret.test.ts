import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from './secret.ts';

const secret = new Secret('hunter2');

const writings: [string, () => string][] = [
  ['a template', () => `${secret}`],
  ['a concatenation', () => `a ${secret}`.concat(String(secret))],
  ['JSON', () => JSON.stringify({ secret, list: [secret] })],
  ['inspect', () => inspect({ secret }, { showHidden: true, depth: 9 })],
  ['inspect without the custom method', () => inspect(secret, { customInspect: false, showHidden: true })],
  ['its entries', () => JSON.stringify([Object.entries(secret), Object.getOwnPropertyNames(secret), { ...secret }])],
  ['an error', () => inspect(new Error(`wrong: ${secret}`, { cause: secret }))],
];

test.each(writings)('%s does not reveal it', (_, write) => {
  expect(write()).not.toContain('hunter2');
});

test('reveal returns it', () => {
  expect(secret.reveal()).toBe('hunter2');
});
