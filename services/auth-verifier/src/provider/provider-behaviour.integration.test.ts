import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { respondWith, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { expect, test } from 'vitest';
import { type BehaviourRow, behaviourRows, type Delay, delays } from './provider-behaviour-table.fixture.ts';
import { aCaller, behaviourOf } from './provider-behaviours.fixture.ts';
import { IdentityProviders } from './query-providers.ts';

// Short if the provider delays its response; otherwise long, for busy machines.
const timeoutMs = { slow: 300, quick: 10_000 };
const soonMs = 3000;
const slowDelays: readonly Delay[] = ['never', 'stalls in the headers', 'stalls in the body', 'trickles'];
// The system assigns this port to no program.
const closedAddress = 'http://127.0.0.1:1/';
// More than needed to open a circuit.
const count = 12;

const page = await readFile(resolve(import.meta.dirname, '../../../../docs/reference/provider-responses.md'), 'utf8');
const rows = behaviourRows(page);
const cases = rows.flatMap((row) => row.profiles.map((profile) => [profile, row.text, row] as const));

test.each(cases)('%s: %s', async (profile, _text, row) => {
  await using standIn = await startStandIn();
  await using canary = await startStandIn();
  const provider = { ...standIn.provider, profile: providerProfiles[profile] };
  const isThere = row.delay !== 'is not there';
  if (!isThere) provider.upstream = closedAddress;
  standIn.behaviour = behaviourOf(row, profile, canary.provider.upstream);

  const failures: string[] = [];
  await using providers = new IdentityProviders({
    timeoutMs: slowDelays.includes(row.delay) ? timeoutMs.slow : timeoutMs.quick,
    userIdSecret: new Secret('a secret of this test'),
    events: {
      providerFailed: (_, error) => failures.push((error as Error).message),
      circuitOpened: () => {},
      circuitClosed: () => {},
    },
  });
  // New tokens, as a 429 blocks a token; new addresses, as the circuit counts each sender once.
  const verify = async (index: number) => {
    const authorization = `${provider.profile.schemes[0]} oauth_token="hunter2-${index}"`;
    return (await providers.query(provider, authorization, `192.0.2.${index}`)).verdict;
  };

  const begin = performance.now();
  const verdicts = await Promise.all(Array.from({ length: count }, (_, index) => verify(index)));
  expect(performance.now() - begin).toBeLessThan(soonMs);
  for (const verdict of verdicts) expect(verdict).toEqual(expectedOf(row));
  const received = standIn.requests.map((head) => Number(/hunter2-(\d+)"/.exec(head)?.[1]));
  expect(received.toSorted((a, b) => a - b)).toEqual(isThere ? [...Array(count).keys()] : []);
  expect(canary.requests).toEqual([]);
  expect(failures).toHaveLength(row.outcome === 'provider_unavailable' ? count : 0);
  expect(failures.join()).not.toContain('hunter2');

  standIn.behaviour = respondWith(200, aCaller(profile));
  provider.upstream = standIn.provider.upstream;
  expect((await verify(count)).outcome).toBe(row.counts ? 'provider_unavailable' : 'verified');
});

function expectedOf({ outcome, userId, retryAfterSeconds }: BehaviourRow): object {
  if (outcome === 'refused') return { outcome };
  if (outcome === 'provider_unavailable') return { outcome, retryAfterSeconds };
  if (userId === undefined) return expect.objectContaining({ outcome });
  const number = userId === 'hashed' ? expect.toSatisfy((id: bigint) => id > 12_345n && id < 2n ** 63n) : userId;
  return { outcome, caller: expect.objectContaining({ userId: number }) };
}

test('the table has every delay and outcome, and no row twice', () => {
  expect(new Set(rows.map(({ delay }) => delay))).toEqual(new Set(delays));
  expect(new Set(rows.map(({ outcome }) => outcome)).size).toBe(3);
  expect(new Set(rows.map(({ profiles, text }) => `${profiles} ${text}`)).size).toBe(rows.length);
});

const whole = page.slice(page.indexOf('\n## All responses'));
const lastRow = whole.trimEnd().split('\n').at(-1) ?? '';

test.each([
  ['no page', ''],
  ['no table', whole.replaceAll('\n|', '\n')],
  [
    'a table without rows',
    whole
      .split('\n')
      .slice(0, whole.split('\n').findIndex((line) => line.startsWith('|---')) + 1)
      .join('\n'),
  ],
  ['another column', whole.replace('| Counts |', '| Breaker |')],
  ['a missing cell', whole.replace(lastRow, lastRow.replace('| no HTTP ', ''))],
  ['a row without a closing bar', whole.replace(lastRow, lastRow.slice(0, -1))],
  ['an unknown profile', whole.replace('| any | 200', '| every | 200')],
  ['an unknown status', whole.replace('| any | 200', '| any | 2xx')],
  ['an unknown delay', whole.replace('| trickles |', '| drips |')],
  ['an unknown verdict', whole.replace('| credentials_refused |', '| refused |')],
  ['a user in a refusal', whole.replace('| credentials_refused |', '| credentials_refused, user.id 1 |')],
  ['neither yes nor no', whole.replace('| yes |', '| maybe |')],
  ['an empty cell', whole.replace('| nothing |', '| |')],
])('refuses %s', (_what, markdown) => {
  expect(markdown).not.toBe(whole);
  expect(() => behaviourRows(markdown)).toThrow();
});
