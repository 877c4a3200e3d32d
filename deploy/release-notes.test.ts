import { expect, test } from 'vitest';
import { releaseNotes } from './release-notes.ts';

const versions = { 'package.json': '0.2.0', 'packages/client/package.json': '0.2.0' };
const changelog = `# Changelog

## [Unreleased]

## [0.2.0] - 2026-12-24

### Added

- Trees.

## [0.1.0] - 2026-11-26

- First.
`;

test('the notes of a release are its section of the changelog', () => {
  expect(releaseNotes('v0.2.0', { versions, changelog })).toBe('### Added\n\n- Trees.');
});

test.each([
  ['a tag of another version', 'v0.1.0', {}, 'the tag is v0.1.0, but package.json has version 0.2.0'],
  ['a tag without v', '0.2.0', {}, 'the tag is 0.2.0'],
  ['no tag', '', {}, 'the tag is , but'],
  [
    'an npm package of another version',
    'v0.2.0',
    { versions: { ...versions, 'packages/client/package.json': '0.1.9' } },
    'packages/client/package.json has version 0.1.9',
  ],
  ['no section', 'v0.2.0', { changelog: changelog.replace('[0.2.0]', '[0.1.9]') }, 'lacks the section "## [0.2.0]'],
  ['a section without a date', 'v0.2.0', { changelog: changelog.replace(' - 2026-12-24', '') }, 'lacks the section'],
  [
    'what no release has',
    'v0.2.0',
    { changelog: changelog.replace('[Unreleased]', '[Unreleased]\n\n### Added\n\n- Snow.') },
    'Unreleased of CHANGELOG.md is not empty',
  ],
  ['an empty section', 'v0.2.0', { changelog: '## [0.2.0] - 2026-12-24\n\n## [0.1.0]\n' }, 'is empty'],
])('%s is refused', (_, tag, change, message) => {
  expect(() => releaseNotes(tag, { versions, changelog, ...change })).toThrow(message);
});
