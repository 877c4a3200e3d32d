import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { storeBody } from './store-body.ts';

test('a destroyed body frees its connection or file, and what they hold, although its reader keeps the body', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const [body, source] = (() => {
    const endless = new Readable({ read: () => endless.push('a') });
    return [storeBody(endless, new AbortController().signal, { length: 2 }), new WeakRef(endless)] as const;
  })();
  await once(body, 'readable');
  expect(body.read()).toEqual(Buffer.from('a'));
  await once(body.destroy(), 'close');
  const isFreed = () => {
    collect();
    return source.deref() === undefined;
  };
  await expect.poll(isFreed).toBe(true);
  expect(body.destroyed).toBe(true);
});
