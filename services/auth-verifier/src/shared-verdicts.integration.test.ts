import type { Verdict } from '@echodrop/contracts/verification';
import { mia, type StandInProvider, says, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { type RunningRedis, startRedis } from '@echodrop/testkit/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { echo, fourSecrets, Replica } from './replica.fixture.ts';

const proof = 'OAuth oauth_token="hunter2"';
const [older, newer] = [new Secret('an older secret!'), new Secret('a newer secret!!')];

let redis: RunningRedis;
let parts: AsyncDisposableStack;
let standIn: StandInProvider;

beforeAll(async () => {
  redis = await startRedis();
});

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  standIn = parts.use(await startStandIn());
  await redis.command('flushall');
});

afterEach(async () => {
  vi.useRealTimers();
  await parts.disposeAsync();
});

afterAll(() => redis[Symbol.asyncDispose]());

type Settings = Partial<ConstructorParameters<typeof Replica>[0]>;

async function replica(settings: Settings = {}): Promise<Replica> {
  const one = parts.use(new Replica({ redisUrl: redis.url, providers: [standIn.provider], ...settings }));
  await waitUntil('its cache', 5000, async () => one.redis.status === 'ready');
  return one;
}

function replicas(count: number, settings: Settings = {}): Promise<Replica[]> {
  return Promise.all(Array.from({ length: count }, () => replica(settings)));
}

function ask({ verifier }: Replica, authorization = proof): Promise<Verdict> {
  return verifier.verify(echo(standIn.provider, authorization));
}

function outcomes(verdicts: readonly Verdict[]): string[] {
  return [...new Set(verdicts.map(({ outcome }) => outcome))];
}

// A provider that accepts a nonce once, and takes its time.
function onceOnly(afterMs: number): void {
  const seen = new Set<string>();
  standIn.behaviour = (socket) => {
    const nonce = standIn.questions.at(-1)?.match(/^authorization: .*$/m)?.[0] ?? '';
    const answer = seen.has(nonce) ? says(401) : mia;
    seen.add(nonce);
    setTimeout(() => answer(socket), afterMs);
  };
}

test('ten verifiers that are asked about one proof two hundred times ask the provider once', async () => {
  onceOnly(200);
  const ten = await replicas(10);
  const verdicts = await Promise.all(Array.from({ length: 200 }, (_, index) => ask(ten[index % 10] as Replica)));
  expect(outcomes(verdicts)).toEqual(['verified']);
  expect(standIn.questions).toHaveLength(1);
});

test('two hundred users at ten verifiers are two hundred questions, each asked once', async () => {
  onceOnly(50);
  const ten = await replicas(10);
  const proofs = Array.from({ length: 400 }, (_, index) => `OAuth oauth_token="${index >> 1}"`);
  const verdicts = await Promise.all(proofs.map((each, index) => ask(ten[index % 10] as Replica, each)));
  expect(outcomes(verdicts)).toEqual(['verified']);
  expect(standIn.questions).toHaveLength(200);
});

test('the four secrets of version 1 are asked about once too', async () => {
  standIn.behaviour = (socket) => setTimeout(() => mia(socket), 100);
  const two = await replicas(2);
  const question = { credentials: fourSecrets, clientAddress: '' };
  expect(outcomes(await Promise.all(two.map(({ verifier }) => verifier.verify(question))))).toEqual(['verified']);
  expect(standIn.questions).toHaveLength(1);
});

test('who waits for another verifier that is told no verdict asks not again: the nonce may be used up', async () => {
  standIn.behaviour = (socket) => setTimeout(() => says(500)(socket), 200);
  const five = await replicas(5);
  expect(outcomes(await Promise.all(five.map((each) => ask(each))))).toEqual(['provider_unavailable']);
  expect(standIn.questions).toHaveLength(1);
  // Whoever comes later does.
  standIn.behaviour = mia;
  expect(await ask(five[4] as Replica)).toMatchObject({ outcome: 'verified' });
});

test('a verifier that is gone while it asks is waited for no longer than a provider may take', async () => {
  let isGone = false;
  standIn.behaviour = () => {
    isGone = true;
  };
  const gone = new Replica({ redisUrl: redis.url, providers: [standIn.provider], timeoutMs: 500 });
  await waitUntil('its cache', 5000, async () => gone.redis.status === 'ready');
  const lost = ask(gone);
  await waitUntil('its question', 5000, async () => isGone);
  gone.redis.disconnect();
  const begin = performance.now();
  expect(await ask(await replica({ timeoutMs: 500 }))).toMatchObject({ outcome: 'provider_unavailable' });
  expect(performance.now() - begin).toBeLessThan(1500);
  expect(standIn.questions).toHaveLength(1);
  await lost;
  await gone[Symbol.asyncDispose]();
});

test('without the cache each verifier asks for itself, and once', async () => {
  const two = await replicas(2);
  await redis.kill();
  standIn.behaviour = (socket) => setTimeout(() => mia(socket), 100);
  const verdicts = await Promise.all([...two, ...two].map((each) => ask(each)));
  expect(outcomes(verdicts)).toEqual(['verified']);
  expect(standIn.questions).toHaveLength(2);
  await redis.restart();
});

test('where verdicts live for 0 seconds nobody waits for another', async () => {
  standIn.behaviour = (socket) => setTimeout(() => mia(socket), 100);
  const two = await replicas(2, { verifiedSeconds: 0 });
  expect(outcomes(await Promise.all(two.map((each) => ask(each))))).toEqual(['verified']);
  expect(standIn.questions).toHaveLength(2);
});

test.each([
  ['one has begun the exchange', [older], [newer, older]],
  ['one has begun it gently', [older], [older, newer]],
  ['one is a step ahead', [older, newer], [newer, older]],
  ['one has ended it', [newer, older], [newer]],
] as const)('while the key is exchanged two verifiers know the same: %s', async (_, first, second) => {
  onceOnly(100);
  const two = [await replica({ keySecret: first }), await replica({ keySecret: second })] as const;
  expect(outcomes(await Promise.all(two.map((each) => ask(each))))).toEqual(['verified']);
  expect(standIn.questions).toHaveLength(1);
  for (const [asked, other] of [two, two.toReversed()] as [Replica, Replica][]) {
    const fresh = `OAuth ${crypto.randomUUID()}`;
    await ask(asked, fresh);
    expect(await ask(other, fresh)).toMatchObject({ outcome: 'verified' });
  }
  expect(standIn.questions).toHaveLength(3);
});

test('when the exchange is over, nothing is found under the older key', async () => {
  await ask(await replica({ keySecret: [older] }));
  await ask(await replica({ keySecret: [newer] }));
  expect(standIn.questions).toHaveLength(2);
});

test('a value of another release is as good as none', async () => {
  const one = await replica();
  await ask(one);
  const [key = ''] = await one.redis.keys('echodrop:verdict:*');
  const kept = JSON.parse((await one.redis.get(key)) ?? '');
  await one.redis.set(key, JSON.stringify({ ...kept, version: kept.version + 1 }));
  expect(await ask(one)).toMatchObject({ outcome: 'verified' });
  expect(standIn.questions).toHaveLength(2);
  // It was replaced by one of ours.
  await ask(one);
  expect(standIn.questions).toHaveLength(2);
});

test('a user who was forgotten at one verifier is asked about anew at every one', async () => {
  const two = await replicas(2);
  const [first, second] = two as [Replica, Replica];
  const other = says(200, '{"id":7,"screen_name":"noa"}');
  await Promise.all(['OAuth a', 'OAuth b'].map((each) => ask(first, each)));
  standIn.behaviour = other;
  await ask(first, 'OAuth of somebody else');
  expect(standIn.questions).toHaveLength(3);

  await first.verifier.forget({ provider: standIn.provider.advertised, subject: '1059182745930317825' });
  standIn.behaviour = says(403);
  for (const each of two) expect(await ask(each, 'OAuth a')).toEqual({ outcome: 'refused' });
  expect(await ask(second, 'OAuth b')).toEqual({ outcome: 'refused' });
  expect(await ask(second, 'OAuth of somebody else')).toMatchObject({ caller: { screenName: 'noa' } });
});

test('a verdict that was on its way when its user was forgotten is not believed later', async () => {
  const one = await replica();
  let answer = () => {};
  standIn.behaviour = (socket) => {
    answer = () => mia(socket);
  };
  const asked = ask(one);
  await waitUntil('the question', 5000, async () => standIn.questions.length === 1);
  await one.verifier.forget({ provider: standIn.provider.advertised, subject: '1059182745930317825' });
  answer();
  await asked;
  standIn.behaviour = says(403);
  expect(await ask(one)).toEqual({ outcome: 'refused' });
});

test('some seconds later the user is remembered again', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const one = await replica();
  await one.verifier.forget({ provider: standIn.provider.advertised, subject: '1059182745930317825' });
  await ask(one, 'OAuth at once');
  await ask(one, 'OAuth at once');
  expect(standIn.questions).toHaveLength(2);
  vi.setSystemTime(Date.now() + 6000);
  await ask(one, 'OAuth later');
  await ask(one, 'OAuth later');
  expect(standIn.questions).toHaveLength(3);
});

test('that a user could not be forgotten is told', async () => {
  const one = await replica();
  await redis.kill();
  await expect(one.verifier.forget({ provider: standIn.provider.advertised, subject: '1' })).rejects.toThrow();
  await redis.restart();
});
