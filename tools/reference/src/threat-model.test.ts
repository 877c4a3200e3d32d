import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const folder = resolve(import.meta.dirname, '../../../docs/why');
const pages = [
  'threat-model.md',
  'threats-to-availability.md',
  'threats-to-credentials.md',
  'threats-to-operators.md',
  'compromised-components.md',
];

// The rows of a page's tables, without their heads.
const rows = pages.flatMap((page) =>
  readFileSync(resolve(folder, page), 'utf8')
    .split('\n')
    .filter((line, n, lines) => line.startsWith('| ') && !lines[n + 1]?.startsWith('|---'))
    .map((row) => ({ page, row, cells: row.split(' | ') })),
);

const links = /\[((?:[^\]\\]|\\.)+)\]\(([\w./-]+)\)/g;

test('every threat has a test that exists, or says why it is accepted', () => {
  expect(new Set(rows.map(({ page }) => page))).toEqual(new Set(pages));
  const unproven = rows.filter(({ cells }) => {
    const tests = [...(cells.at(-1) ?? '').matchAll(links)];
    const isAccepted = /\baccepted, because /i.test(cells.at(-2) ?? '');
    return !(tests.length > 0 || isAccepted) || !tests.every(([, title = '', file = '']) => hasTest(file, title));
  });
  expect(unproven.map(({ page, row }) => `${page}: ${row}`)).toEqual([]);
});

/** Whether a test file has a test with this title: as the source has it, with `%s` for what differs. */
function hasTest(file: string, title: string): boolean {
  if (!/\.(test|containers)\.ts$/.test(file)) return false;
  const source = readFileSync(resolve(folder, file), 'utf8');
  return ["'", '"', '`'].some((quote) => source.includes(quote + title + quote));
}
