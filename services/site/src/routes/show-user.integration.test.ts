import { ownerHash } from '@echodrop/archive/owner';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { patientSignal } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { serveSite } from '../app.fixture.ts';
import { newStore, publishSample } from '../site.fixture.ts';

const ada = { provider: 'https://id.example/verify', subject: 'ada' };

test('a network has four lists at once, and others do not wait for its turns, even for the same list', async () => {
  await using resources = new AsyncDisposableStack();
  const store = await newStore(resources);
  await publishSample(store, Buffer.from('media'), { ...ada, width: 64, height: 48 });
  const slow = Promise.withResolvers<void>();
  const begun: string[] = [];
  const listKeys: ObjectStore['listKeys'] = async (prefix, page) => {
    begun.push(prefix);
    if (!prefix.includes(ownerHash(ada))) await slow.promise;
    return store.listKeys(prefix, page);
  };
  const watched = new Proxy(store, {
    get: (target, name) => (name === 'listKeys' ? listKeys : Reflect.get(target, name).bind(target)),
  });
  const make = async () => ({ outcome: 'unsupported', why: 'no_picture' }) as const;
  const site = await serveSite(resources, { store: watched, make, trustedProxies: ['127.0.0.1'] });
  const get = async (from: string, address: string) => {
    const headers = { 'X-Forwarded-For': from };
    return (await fetch(`${site}${address}`, { headers, signal: patientSignal() })).status;
  };

  const owners = Array.from({ length: 4 }, (_, n) => `${n}`.padStart(32, '0'));
  const lists = owners.map((owner) => get('10.0.0.1', `/by/${owner}`));
  const isBegun = () => owners.every((owner) => begun.some((prefix) => prefix.includes(owner)));
  await waitUntil('four lists', async () => isBegun());
  const waiting = get('10.0.0.1', `/by/${ownerHash(ada)}`);
  // Its request comes after that of the list.
  expect(await get('10.0.0.1', '/robots.txt')).toBe(200);
  expect(begun.some((prefix) => prefix.includes(ownerHash(ada)))).toBe(false);
  expect(await get('10.0.0.2', `/by/${ownerHash(ada)}`)).toBe(200);
  slow.resolve();
  expect(await Promise.all([waiting, ...lists])).toEqual([200, 404, 404, 404, 404]);
});
