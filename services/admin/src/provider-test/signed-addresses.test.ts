import { readProvider } from '@echodrop/identity-provider/provider';
import { expect, test } from 'vitest';
import { otherSignedAddresses } from './signed-addresses.ts';

test('tries the other scheme, a trailing slash and ports that servers behind proxies insert', () => {
  expect(addresses('https://id.example/verify?a=b')).toEqual([
    'http://id.example/verify?a=b',
    'https://id.example/verify/?a=b',
    'http://id.example/verify/?a=b',
    'https://id.example:80/verify?a=b',
    'http://id.example:443/verify?a=b',
  ]);
});

test('tries scheme and slash first, then the upstream address', () => {
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

test('omits the advertised address, however it is spelled', () => {
  const found = addresses('https://id.example:443/verify=https://ID.example/verify');
  expect(found).toContain('http://id.example/verify');
  expect(found).not.toContain('https://id.example/verify');
});

function addresses(entry: string): string[] {
  const provider = readProvider(entry);
  if (typeof provider === 'string') throw new Error(`${entry} is not an entry`);
  return otherSignedAddresses(provider);
}
