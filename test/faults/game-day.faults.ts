import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scenariosOf } from './all-scenarios.ts';
import { playGameDay } from './game-day.ts';
import { calm } from './load.ts';
import type { GameDayReport } from './report.ts';
import { faultOptions } from './run-options.ts';

// Longer than the longest game day, its checks included.
const maxMs = 3 * 3_600_000;
const options = faultOptions(process.env);
const parts = new AsyncDisposableStack();

let report: GameDayReport;
beforeAll(async () => {
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-faults-'))).path;
  process.stdout.write(`seed ${options.seed}\n`);
  report = await playGameDay({ ...options, folder });
  process.stdout.write(`${report.lines().join('\n')}\n`);
  await report.write(options.report);
}, maxMs);
afterAll(() => parts.disposeAsync());

const findingsOf = (scenario: string) =>
  report.findings.filter((finding) => finding.scenario === scenario).map(({ what, which }) => `${what}: ${which}`);

test.for(scenariosOf(options).map(({ name }) => name))(
  '%s: the system recovers, and every acknowledged upload is intact, listed and unique',
  (name, { skip }) => {
    skip(report.notPlayed.has(name), report.notPlayed.get(name));
    expect(findingsOf(name)).toEqual([]);
  },
);

test('before and between scenarios, every acknowledged upload is intact, listed and unique', () => {
  expect(report.acknowledged).toBeGreaterThan(0);
  expect(findingsOf(calm)).toEqual([]);
});

test('at the end, every record is listed, nothing is left behind, and no service leaks', () => {
  expect(findingsOf('all')).toEqual([]);
});
