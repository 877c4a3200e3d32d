import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ProfileName, profileNames, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { respondWith, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test, vi } from 'vitest';
import { IdentityProviders } from './query-providers.ts';

const timeoutMs = patienceMs;
// Far below the timeout, which ends no request of a provider that responds, closes or is not there.
const soonMs = timeoutMs / 3;
// The system assigns this port to no program.
const closedAddress = 'http://127.0.0.1:1/';
// More than needed to open a circuit.
const count = 12;

type Respond = (socket: Socket, head: string, body: string) => unknown;

/** Responses that the deadline ends. */
const slow: Readonly<Record<string, Respond>> = {
  'never comes': () => {},
  'stalls in its headers': (socket, head) => socket.write(head.slice(0, -8)),
  'stalls in its body': (socket, head, body) => socket.write(head + body.slice(0, body.length / 2)),
  trickles: (socket) => {
    socket.write(headOf(200, '', ' '.repeat(1000)));
    const trickle = setInterval(() => socket.write(' '), 20);
    socket.on('close', () => clearInterval(trickle));
  },
};

const endings: Readonly<Record<string, Respond>> = {
  ...slow,
  'is whole': (socket, head, body) => socket.write(head + body),
  'ends in its body': (socket, head, body) => socket.end(head + body.slice(0, body.length / 2)),
  'is empty': (socket) => socket.end(),
  'is a reset': (socket) => socket.resetAndDestroy(),
  'is no HTTP': (socket) => socket.write('\0\xff\x16\x03 no HTTP at all\r\n\r\n'),
  'comes from no server': () => {},
};

/** A response of that profile with all fields that we read. */
function aCaller(profile: ProfileName): string {
  const { subject, screenName } = providerProfiles[profile];
  return JSON.stringify({ [subject[0]]: '12345', [screenName]: 'mia' });
}

const aLongCaller = (profile: ProfileName) => aCaller(profile) + ' '.repeat(64 * 1024);

function headOf(status: number, headers: string, body: string): string {
  return `HTTP/1.1 ${status} Whatever\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers && `${headers}\r\n`}\r\n`;
}

const verified = expect.objectContaining({ outcome: 'verified' });
const refused = { outcome: 'refused' };
const unavailable = { outcome: 'provider_unavailable', retryAfterSeconds: 10 };
const verifiedAs = (userId: unknown) => ({ outcome: 'verified', caller: expect.objectContaining({ userId }) });
const verifiedAsHash = verifiedAs(expect.toSatisfy((id: bigint) => id > 12_345n && id < 2n ** 63n));

/** Every combination of the alternatives in a row gets the verdict. */
interface Row {
  /** All, unless named. */
  readonly profile?: ProfileName;
  readonly statuses?: readonly number[];
  readonly headers?: readonly string[];
  readonly bodies?: readonly (string | ((profile: ProfileName) => string))[];
  readonly ways?: readonly string[];
  readonly verdict: object;
  /** Whether ten of these responses open the circuit. */
  readonly counts?: boolean;
}

const html = '<!doctype html><title>Sorry</title>';
// Must never be called.
const elsewhere = 'Location: https://elsewhere.example/';
const oauth1 = 'oauth1';
const rows: readonly Row[] = [
  { headers: ['', 'Content-Type: text/plain'], bodies: [aCaller], verdict: verified },
  { profile: oauth1, bodies: ['{"id":12345,"id_str":"12345","screen_name":"mia"}'], verdict: verifiedAs(12345n) },
  { profile: oauth1, bodies: ['{"id":12345,"screen_name":"mia"}'], verdict: verifiedAs(12345n) },
  { profile: 'mastodon', bodies: ['{"id":"12345","username":"mia"}'], verdict: verifiedAs(12345n) },
  { profile: 'oidc', bodies: ['{"sub":"12345","preferred_username":"mia"}'], verdict: verifiedAs(12345n) },
  { profile: 'wordpress', bodies: ['{"id":12345,"slug":"mia"}'], verdict: verifiedAs(12345n) },
  { profile: 'matrix', bodies: ['{"user_id":"@mia:example.org"}'], verdict: verifiedAsHash },
  { profile: oauth1, bodies: ['{"id":9007199254740993,"screen_name":"mia"}'], verdict: verifiedAs(9007199254740993n) },
  {
    profile: oauth1,
    bodies: ['{"id":18446744073709551615,"screen_name":"mia"}'],
    verdict: verifiedAs(18446744073709551615n),
  },
  { profile: oauth1, bodies: ['{"id":18446744073709551616,"screen_name":"mia"}'], verdict: verifiedAsHash },
  { profile: 'mastodon', bodies: ['{"id":"AjnbIeL3kmD0YN6XGS","username":"mia"}'], verdict: verifiedAsHash },
  { profile: 'mastodon', bodies: ['{"id":"012345","username":"mia"}'], verdict: verifiedAsHash },
  {
    profile: oauth1,
    bodies: [
      ...['{"screen_name":"mia"}', '{"id":null,"screen_name":"mia"}', '{"id":12345}', '{"id":12345,"screen_name":""}'],
      ...['{"user":{"id":12345,"screen_name":"mia"}}', '{"id":12345,"screen_name":"mia"'],
    ],
    verdict: unavailable,
  },
  { profile: 'oidc', bodies: ['{"sub":"12345"}'], verdict: unavailable },
  { bodies: [html, '', aLongCaller], verdict: unavailable },
  { headers: [`X-Long: ${'x'.repeat(17 * 1024)}`], bodies: [aCaller], verdict: unavailable },
  { statuses: [201, 206], bodies: [aCaller], verdict: unavailable },
  { statuses: [301, 302, 303, 307, 308], headers: [elsewhere], bodies: [aCaller], verdict: unavailable },
  { statuses: [204, 400, 404, 405, 410, 415, 418, 431], verdict: unavailable },
  {
    profile: 'mastodon',
    statuses: [422],
    bodies: ['{"error":"This method requires an authenticated user"}'],
    verdict: unavailable,
  },
  { statuses: [401, 403], bodies: ['', aCaller], verdict: refused },
  { statuses: [401], bodies: [html], verdict: refused },
  { statuses: [429], headers: ['', 'Retry-After: soon'], verdict: unavailable },
  { statuses: [429], headers: ['Retry-After: 120'], verdict: { ...unavailable, retryAfterSeconds: 120 } },
  { statuses: [429], headers: ['Retry-After: 86400'], verdict: { ...unavailable, retryAfterSeconds: 3600 } },
  { statuses: [500, 502, 504], bodies: ['', aCaller], verdict: unavailable, counts: true },
  { statuses: [503], headers: ['Retry-After: 120'], verdict: unavailable, counts: true },
  {
    ways: ['never comes', 'is empty', 'is a reset', 'comes from no server', 'is no HTTP'],
    verdict: unavailable,
    counts: true,
  },
  {
    bodies: [aCaller],
    ways: ['stalls in its headers', 'stalls in its body', 'trickles', 'ends in its body'],
    verdict: unavailable,
    counts: true,
  },
  { statuses: [401], bodies: [html], ways: ['stalls in its body'], verdict: unavailable, counts: true },
];

const cases = rows.flatMap(
  ({ profile, statuses = [200], headers = [''], bodies = [''], ways = ['is whole'], verdict, counts = false }) =>
    (profile ? [profile] : profileNames).flatMap((name) =>
      statuses.flatMap((status) =>
        headers.flatMap((lines) =>
          bodies.flatMap((each) =>
            ways.map((way) => {
              const body = typeof each === 'string' ? each : each(name);
              const title = `${name}: ${status} ${lines.slice(0, 40)} ${body.slice(0, 60)} that ${way}`;
              return { title, profile: name, status, lines, body, way, verdict, counts };
            }),
          ),
        ),
      ),
    ),
);

test.each(cases)('the verdict on a response of $title', async ({ profile, status, lines, body, way, ...expected }) => {
  await using standIn = await startStandIn();
  await using canary = await startStandIn();
  const provider = { ...standIn.provider, profile: providerProfiles[profile] };
  const isThere = way !== 'comes from no server';
  if (!isThere) provider.upstream = closedAddress;
  const head = headOf(status, lines === elsewhere ? `Location: ${canary.provider.upstream}` : lines, body);
  standIn.behaviour = (socket) => endings[way]?.(socket, head, body);

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
  if (way in slow) {
    await waitUntil('the requests', async () => standIn.requests.length === count);
    // What the provider has sent arrives within a turn.
    for (let turns = 0; turns < 2; turns += 1) await nextTurn();
    expect(deadlines.size).toBe(count);
    for (const pass of deadlines.values()) pass();
  }
  const verdicts = await pending;
  expect(performance.now() - begin).toBeLessThan(soonMs);
  for (const verdict of verdicts) expect(verdict).toEqual(expected.verdict);
  const received = standIn.requests.map((head) => Number(/hunter2-(\d+)"/.exec(head)?.[1]));
  expect(received.toSorted((a, b) => a - b)).toEqual(isThere ? [...Array(count).keys()] : []);
  expect(canary.requests).toEqual([]);
  expect(failures).toHaveLength(verdicts[0]?.outcome === 'provider_unavailable' ? count : 0);
  expect(failures.join()).not.toContain('hunter2');

  standIn.behaviour = respondWith(200, aCaller(profile));
  provider.upstream = standIn.provider.upstream;
  expect((await verify(count)).outcome).toBe(expected.counts ? 'provider_unavailable' : 'verified');
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
