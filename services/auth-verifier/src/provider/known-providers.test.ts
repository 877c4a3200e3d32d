import { type Provider, readProvider } from '@echodrop/identity-provider/provider';
import { expect, test } from 'vitest';
import { KnownProviders } from './known-providers.ts';

const advertised = 'https://identity.example/1/verify.json';

test('finds providers by the exact configured string', () => {
  const known = new KnownProviders(
    [advertised, 'https://second.example/'].map((entry) => readProvider(entry) as Provider),
  );
  expect(known.advertised).toEqual([advertised, 'https://second.example/']);
  expect(known.find(advertised)?.advertised).toBe(advertised);
  expect(known.find(`${advertised} `)).toBeUndefined();
  expect(known.find('')).toBeUndefined();
  expect(known.firstSigned?.advertised).toBe(advertised);
});

test('finds nothing if none is configured', () => {
  const known = new KnownProviders([]);
  expect([known.advertised, known.find(advertised), known.firstSigned]).toEqual([[], undefined, undefined]);
});
