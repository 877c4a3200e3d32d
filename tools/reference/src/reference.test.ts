import { rotatedSecret, wholeNumber } from '@echodrop/service/env';
import { expect, test } from 'vitest';
import { describeSetting } from './describe-setting.ts';
import { fillBlocks, readPages } from './pages.ts';
import { table } from './table.ts';

const pages = await readPages();

test.each(pages)('docs/$name is current; `npm run docs:reference` updates it', ({ content, current }) => {
  expect(content).toBe(current);
});

test('a page without one of its blocks, or with an unknown one, is an error', () => {
  const page = '# Errors\n\n<!-- generated: errors -->\n<!-- end -->\n';
  expect(fillBlocks('errors.md', page, { errors: '| a |' })).toBe(
    '# Errors\n\n<!-- generated: errors -->\n\n| a |\n\n<!-- end -->\n',
  );
  expect(() => fillBlocks('errors.md', '# Errors\n', { errors: '| a |' })).toThrow('docs/errors.md lacks a block');
  expect(() => fillBlocks('errors.md', page, {})).toThrow('docs/errors.md has an unknown block "errors"');
});

test('a setting shows its limits, and needs a description', () => {
  const number = wholeNumber({ default: 5, min: 2, max: 9 });
  expect(describeSetting('N', number.describe('jobs'))).toEqual({
    default: '5',
    meaning: 'jobs. Minimum: 2. Maximum: 9',
  });
  const secret = rotatedSecret({ minLength: 16 }).describe('seals jobs');
  expect(describeSetting('S', secret.optional())).toEqual({
    default: 'none',
    meaning: 'seals jobs. Rotatable secret of at least 16 characters',
  });
  expect(() => describeSetting('N', number)).toThrow('N has no description');
});

test('a table escapes pipes, and angle brackets outside code', () => {
  expect(table(['A', 'B'], [['every <hours>', '`a | <b>`']])).toBe(
    '| A | B |\n|---|---|\n| every &lt;hours> | `a \\| <b>` |',
  );
});
