import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readProvider } from './provider.ts';
import { profileNames, providerProfiles } from './provider-profiles.ts';

const page = await readFile(resolve(import.meta.dirname, '../../../docs/reference/identity-providers.md'), 'utf8');

test('the documented table of profiles matches the code', () => {
  const table = page.split('\n## The profiles\n')[1]?.split('\n## ')[0] ?? '';
  const [head, , ...rows] = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.replaceAll('`', '').trim()));
  const documented = rows.map((row) => Object.fromEntries(row.map((cell, index) => [head?.[index], cell])));
  const done = profileNames.map((name) => {
    const { schemes, subject, screenName, signsRequests } = providerProfiles[name];
    return {
      Word: name,
      Scheme: schemes.join(', '),
      Id: subject.join(', '),
      Name: screenName,
      'Version 1': signsRequests ? 'yes' : 'no',
    };
  });
  expect(documented).toEqual(done.map((row) => expect.objectContaining(row)));
});

test('the documented example is a valid setting', () => {
  const example = /IDENTITY_PROVIDERS: >-\n((?: {8}.+\n)+)/.exec(page)?.[1] ?? '';
  const entries = example.split(',').map((entry) => entry.trim());
  expect(entries.length).toBeGreaterThan(3);
  for (const entry of entries) expect([entry, readProvider(entry)]).toEqual([entry, expect.any(Object)]);
});
