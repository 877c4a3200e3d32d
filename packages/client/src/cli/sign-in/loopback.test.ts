import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { listenOnLoopback } from './loopback.ts';

test('closes idle browser connections after the last response of a sign-in', async () => {
  const loopback = await listenOnLoopback('/sign-in/town', 'state');
  const spare = connect(Number(new URL(loopback.redirectUri).port), '127.0.0.1');
  await once(spare, 'connect');
  const closed = once(spare.resume(), 'close');
  const page = fetch(`${loopback.redirectUri}?code=c&state=state`);
  expect((await loopback.redirected).searchParams.get('code')).toBe('c');
  loopback[Symbol.dispose]();
  expect(await (await page).text()).toContain('continues in the terminal');
  await closed;
});
