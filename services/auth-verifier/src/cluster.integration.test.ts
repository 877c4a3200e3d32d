import { respondWith, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { startClusterSet } from '@echodrop/testkit/servers/start-redis-set';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { echo, Replica } from './replica.fixture.ts';

const older = new Secret('an older secret!');
const newer = new Secret('a newer secret!!');

test('verifiers share verdicts and forgotten users on a cluster, even during a key rotation', async () => {
  await using set = await startClusterSet();
  await using standIn = await startStandIn();
  const settings = { redisUrl: set.url, providers: [standIn.provider] };
  await using one = new Replica({ ...settings, keySecret: [older] });
  await using both = new Replica({ ...settings, keySecret: [older, newer] });
  for (const { redis } of [one, both])
    await waitUntil('the cache', async () => (await redis.get('{echodrop:3}:test').catch(() => '')) === null);
  const verify = async ({ verifier }: Replica, nonce: string) => {
    const header = `OAuth oauth_consumer_key="c", oauth_token="t", oauth_timestamp="1", oauth_nonce="${nonce}"`;
    return (await verifier.verify(echo(standIn.provider, header))).outcome;
  };

  const nonces = Array.from({ length: 20 }, (_, index) => `${index}`);
  expect(new Set(await Promise.all(nonces.map((nonce) => verify(one, nonce))))).toEqual(new Set(['verified']));
  expect(new Set(await Promise.all(nonces.map((nonce) => verify(both, nonce))))).toEqual(new Set(['verified']));
  expect(standIn.requests).toHaveLength(20);

  await one.verifier.forget({ provider: standIn.provider.advertised, subject: '1059182745930317825' });
  standIn.behaviour = respondWith(403);
  expect(await verify(both, '1')).toBe('refused');
  expect(standIn.requests).toHaveLength(21);
});
