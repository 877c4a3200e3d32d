import { providerOf } from '@echodrop/identity-provider/provider';
import { expect, test } from 'vitest';
import { otherSignedAddresses } from './signed-addresses.ts';

test('of one that is asked itself: the other scheme, a slash more, the ports that servers behind proxies put in', () => {
  expect(addresses('https://id.example/verify?a=b')).toEqual([
    'http://id.example/verify?a=b',
    'https://id.example/verify/?a=b',
    'http://id.example/verify/?a=b',
    'https://id.example:80/verify?a=b',
    'http://id.example:443/verify?a=b',
  ]);
});

test('of one behind another address: that one first of what differs by more than its scheme and its slash', () => {
  const found = addresses('https://id.example/verify/=http://10.0.0.7:3000/verify');
  expect(found).toHaveLength(10);
  expect(found.slice(0, 5)).toEqual([
    'http://id.example/verify/',
    'https://id.example/verify',
    'http://id.example/verify',
    'http://10.0.0.7:3000/verify',
    'https://10.0.0.7:3000/verify',
  ]);
});

test('the advertised one itself is not among them, however it is spelt', () => {
  const found = addresses('https://id.example:443/verify=https://ID.example/verify');
  expect(found).toContain('http://id.example/verify');
  expect(found).not.toContain('https://id.example/verify');
});

function addresses(entry: string): string[] {
  const provider = providerOf(entry);
  if (!provider) throw new Error(`${entry} is no entry`);
  return otherSignedAddresses(provider);
}
