import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { respondWith, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test, vi } from 'vitest';
import { type BehaviourRow, behaviourRows, type Delay, delays } from './provider-behaviour-table.fixture.ts';
import { aCaller, behaviourOf } from './provider-behaviours.fixture.ts';
import { IdentityProviders } from './query-providers.ts';

const timeoutMs = patienceMs;
// Far below the timeout, which ends no request of a provider that responds, closes or is not there.
const soonMs = timeoutMs / 3;
const slowDelays: readonly Delay[] = ['never', 'stalls in the headers', 'stalls in the body', 'trickles'];
// The system assigns this port to no program.
const closedAddress = 'http://127.0.0.1:1/';
// More than needed to open a circuit.
const count = 12;

const whole = await readFile(resolve(import.meta.dirname, 'all-responses.md'), 'utf8');
const rows = behaviourRows(whole);
const cases = rows.flatMap((row) => row.profiles.map((profile) => [profile, row.text, row] as const));

test.each(cases)('the verdict on a response at %s: %s', async (profile, _text, row) => {
  await using standIn = await startStandIn();
  await using canary = await startStandIn();
  const provider = { ...standIn.provider, profile: providerProfiles[profile] };
  const isThere = row.delay !== 'is not there';
  if (!isThere) provider.upstream = closedAddress;
  standIn.behaviour = behaviourOf(row, profile, canary.provider.upstream);

  const failures: string[] = [];
  await using providers = new IdentityProviders({
    timeoutMs,
    waitMs: timeoutMs,
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
  const deadlines = collectDeadlines();
  const pending = Promise.all(Array.from({ length: count }, (_, index) => verify(index)));
  if (slowDelays.includes(row.delay)) {
    await waitUntil('the requests', async () => standIn.requests.length === count);
    // What the provider has sent arrives within a turn.
    for (let turns = 0; turns < 2; turns += 1) await nextTurn();
    expect(deadlines.size).toBe(count);
    for (const pass of deadlines.values()) pass();
  }
  const verdicts = await pending;
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

/** Collects running timers of `timeoutMs` with their callbacks, so that a test can end them early. Tests share undici's other timers. */
function collectDeadlines(): ReadonlyMap<unknown, () => void> {
  const deadlines = new Map<unknown, () => void>();
  const { setTimeout, clearTimeout } = globalThis;
  const start = (callback: () => void, ms?: number, ...rest: []) => {
    const timer = setTimeout(callback, ms, ...rest);
    if (ms === timeoutMs) deadlines.set(timer, callback);
    return timer;
  };
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(start as typeof setTimeout);
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    deadlines.delete(timer);
    clearTimeout(timer);
  });
  return deadlines;
}

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
  ['an unknown delay', whole.replace('; trickles;', '; drips;')],
  ['an unknown verdict', whole.replace('| credentials_refused |', '| refused |')],
  ['a user in a refusal', whole.replace('| credentials_refused |', '| credentials_refused, user.id 1 |')],
  ['neither yes nor no', whole.replace('| yes |', '| maybe |')],
  ['an empty cell', whole.replace('| nothing |', '| |')],
])('refuses %s', (_what, markdown) => {
  expect(markdown).not.toBe(whole);
  expect(() => behaviourRows(markdown)).toThrow();
});
