import { expect, test } from 'vitest';
import { terminalLine } from './terminal.ts';

const logged = (level: string) =>
  JSON.stringify({
    level,
    time: '2026-11-21T12:00:00.000Z',
    service: 'gateway',
    reason: 'ECONNREFUSED',
    msg: 'Redis unreachable',
  });

test('shows warnings and errors without the fields that every line has', () => {
  for (const level of ['warn', 'error', 'fatal']) {
    expect(terminalLine(logged(level), 'stdout', false)).toBe(`${level}: Redis unreachable {"reason":"ECONNREFUSED"}`);
  }
});

test('shows other log lines only if all output is enabled', () => {
  expect(terminalLine(logged('info'), 'stdout', false)).toBeUndefined();
  expect(terminalLine(logged('info'), 'stdout', true)).toBe('info: Redis unreachable {"reason":"ECONNREFUSED"}');
});

test('shows other text only from standard error', () => {
  for (const line of ['Error: broken', '{ not JSON', '{"a":1}']) {
    expect(terminalLine(line, 'stderr', false)).toBe(line);
    expect(terminalLine(line, 'stdout', false)).toBeUndefined();
  }
});
