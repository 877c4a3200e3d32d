import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Outages } from './outages.ts';

const log = { warn: vi.fn(), error: vi.fn() };
const messages = { begin: 'is down', end: 'is up again' };

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => {
  log.warn.mockClear();
  vi.useRealTimers();
});

test('logs each reason of an outage once, with up to four, and its end', () => {
  const outages = new Outages(log, messages);
  for (let retry = 0; retry < 100; retry += 1) outages.report('', new Error(`no response within ${retry}.5 ms`));
  for (const reason of ['b', 'c', 'd', 'e', 'f', 'b']) outages.report('', new Error(reason));
  const reasons = ['no response within 0.5 ms', 'b', 'c', 'd'];
  expect(log.warn.mock.calls).toEqual(reasons.map((reason) => [{ reason }, 'is down']));
  outages.end('');
  outages.end('');
  expect(log.warn.mock.calls.slice(4)).toEqual([[{}, 'is up again']]);
  outages.report('', new Error('b'));
  expect(log.warn).toHaveBeenCalledTimes(6);
});

test('keeps several things apart, and names them', () => {
  const outages = new Outages(log, { ...messages, field: 'node' });
  for (const node of ['a', 'b', 'a']) outages.report(node, new Error('away'));
  outages.end('a');
  expect(log.warn.mock.calls).toEqual([
    [{ node: 'a', reason: 'away' }, 'is down'],
    [{ node: 'b', reason: 'away' }, 'is down'],
    [{ node: 'a' }, 'is up again'],
  ]);
});

test('what does not pass by itself begins with an error', () => {
  const outages = new Outages(log, { ...messages, level: 'error' });
  outages.report('', new Error('refused'));
  outages.end('');
  expect(log.error.mock.calls).toEqual([[{ reason: 'refused' }, 'is down']]);
  expect(log.warn.mock.calls).toEqual([[{}, 'is up again']]);
});

test('an outage that ends within the grace leaves no line', () => {
  const outages = new Outages(log, { ...messages, graceMs: 1500 });
  outages.report('', new Error('away'));
  vi.advanceTimersByTime(1499);
  outages.report('', new Error('away'));
  outages.end('');
  expect(log.warn).not.toHaveBeenCalled();
  outages.report('', new Error('away'));
  vi.advanceTimersByTime(1500);
  outages.report('', new Error('away'));
  expect(log.warn).toHaveBeenCalledTimes(1);
});
