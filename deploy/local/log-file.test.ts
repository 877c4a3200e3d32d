import { mkdtempDisposableSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LogFile } from './log-file.ts';

const line = (n: number) => `line ${n}`.padEnd(99, '.');

function read(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').filter(Boolean);
}

test('keeps the newest lines in two files of a limited size, readable at any time', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'log-file-'));
  const file = join(folder.path, 'gateway.log');
  using log = new LogFile(file, 1000);
  for (let n = 1; n <= 95; n += 1) {
    log.write(line(n));
    expect(read(file).at(-1)).toBe(line(n));
    for (const name of readdirSync(folder.path))
      expect(statSync(join(folder.path, name)).size).toBeLessThanOrEqual(1000);
  }
  expect(readdirSync(folder.path).sort()).toEqual(['gateway.log', 'gateway.log.1']);
  const kept = [...read(`${file}.1`), ...read(file)];
  expect(kept).toEqual(Array.from({ length: 15 }, (_, n) => line(81 + n)));
});

test('goes on with the log of an earlier start, and counts its bytes', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'log-file-'));
  const file = join(folder.path, 'site.log');
  writeFileSync(file, `${line(1)}\n`.repeat(9));
  using log = new LogFile(file, 1000);
  log.write(line(2));
  expect(read(file)).toHaveLength(10);
  log.write(line(3));
  expect([read(`${file}.1`).length, read(file)]).toEqual([10, [line(3)]]);
});
