import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UsageError } from './command-context.ts';
import { expandFiles } from './expand-files.ts';

let folder: string;
const longName = 'x'.repeat(200);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'expand-'));
  for (const name of [
    'b.jpg',
    'a.jpg',
    '.hidden.jpg',
    'c.png',
    'what?.jpg',
    'a+b(1).gif',
    "my trip - 1, é#~'&.gif",
    longName,
  ])
    await writeFile(join(folder, name), '');
});
afterAll(() => rm(folder, { recursive: true }));

test.each([
  [['a.jpg'], ['a.jpg']],
  [['*.jpg'], ['a.jpg', 'b.jpg', 'what?.jpg']],
  [['?.*'], ['a.jpg', 'b.jpg', 'c.png']],
  [['a+b(1)*'], ['a+b(1).gif']],
  [["my trip - 1, é#~'&*"], ["my trip - 1, é#~'&.gif"]],
  [['.h*'], ['.hidden.jpg']],
  [['*x*x*'], [longName]],
  [['*.j*g'], ['a.jpg', 'b.jpg', 'what?.jpg']],
  [['what?.jpg'], ['what?.jpg']],
  [
    ['none*.jpg', 'no.jpg'],
    ['none*.jpg', 'no.jpg'],
  ],
  [['./c*'], ['c.png']],
])('%j expands to %j', async (args, names) => {
  expect(await expandFiles(args, folder)).toMatchObject(names.map((name) => ({ name, path: join(folder, name) })));
});

test('a dash is standard input', async () => {
  expect(await expandFiles(['-'], folder)).toEqual([{ name: 'standard input', path: undefined }]);
});

test('standard input can be given once', async () => {
  await expect(expandFiles(['-', 'a.jpg', '-'], folder)).rejects.toThrow(UsageError);
});
