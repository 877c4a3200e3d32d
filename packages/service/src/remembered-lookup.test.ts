import type { LookupAddress } from 'node:dns';
import { expect, test } from 'vitest';
import { rememberLookups } from './remembered-lookup.ts';

const address = (last: number) => [{ address: `192.0.2.${last}`, family: 4 }];

test('returns the previous addresses while the DNS does not respond, and does not ask again meanwhile', async () => {
  const late = Promise.withResolvers<LookupAddress[]>();
  const { find, asked } = lookupWith([Promise.resolve(address(1)), late.promise, Promise.resolve(address(3))]);
  expect(await find()).toEqual(address(1));
  expect(await Promise.all([find(), find()])).toEqual([address(1), address(1)]);
  expect(asked()).toBe(2);
  late.resolve(address(2));
  expect(await find()).toEqual(address(2));
  expect(await find()).toEqual(address(3));
});

test('returns the previous addresses if the DNS fails, and the error if there are none', async () => {
  const failure = () => Promise.reject(new Error('EAI_AGAIN'));
  const { find } = lookupWith([failure(), Promise.resolve(address(1)), failure()]);
  await expect(find()).rejects.toThrow('EAI_AGAIN');
  expect(await find()).toEqual(address(1));
  expect(await find()).toEqual(address(1));
});

function lookupWith(responses: Promise<LookupAddress[]>[]) {
  let asked = 0;
  for (const response of responses) response.catch(() => {});
  const lookup = rememberLookups(() => responses[asked++] as Promise<LookupAddress[]>);
  const find = () =>
    new Promise((resolve, reject) => {
      lookup('store', { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
    });
  return { find, asked: () => asked };
}
