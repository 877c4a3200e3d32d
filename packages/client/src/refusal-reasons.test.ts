import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusalReasons } from './refusal-reasons.ts';

test('the reasons are those of docs/reference/interface.md', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/reference/interface.md'), 'utf8');
  const [, table = ''] = /\| Status \| Reasons \|\n([\s\S]*?)\n\n/.exec(page) ?? [];
  const documented = [...table.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name);
  expect([...refusalReasons].sort()).toEqual(documented.sort());
});
