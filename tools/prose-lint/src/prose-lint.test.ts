import { fileURLToPath } from 'node:url';
import { createLinter, loadTextlintrc } from 'textlint';
import { expect, test } from 'vitest';

const configFilePath = fileURLToPath(new URL('../../../.textlintrc.yml', import.meta.url));
const linter = createLinter({ descriptor: await loadTextlintrc({ configFilePath }) });
const found = async (file: string, text: string) =>
  (await linter.lintText(text, file)).messages.map(({ line, column, message }) => `${line}:${column} ${message}`);

test.each([
  ['page.md', '# Limits\n\nThe client is told so, and `told` is a word.\n', [/^3:15 "told": write report/]],
  ['page.md', `${'word '.repeat(36)}end.\n`, [/^1:1 37 words in a sentence/]],
  ['page.md', `- One.\n  ${'Two. '.repeat(41)}\n`, [/^2:1 20\d characters/]],
  ['main.ts', "log.warn('queue is ' +\n  `left alone`);\nlog.info('left');\n", [/^2:4 "left alone"/]],
  ['main.ts', '/**\n * Left\n * alone.\n */\n', [/^2:4 "Left alone"/]],
  ['main.ts', '// left\n// alone\n', [/^1:4 "left alone"/]],
  ['rules.yml', 'annotations:\n  summary: Nobody listens\n', [/^2:12 "Nobody"/]],
  ['rules.yml', '# Told again\nexpr: up\n', [/^1:3 "Told"/]],
  ['nginx.conf', '# Told\n# again\nworkers 1;\n', [/^1:3 "Told"/]],
  ['Dockerfile.conf', 'RUN true\n# Nobody\n', [/^2:3 "Nobody"/]],
  ['rolling-update.conf', '#!/bin/sh\necho "$1: nobody" >&2\n', [/^2:11 "nobody"/]],
  ['.env.example', '# Nobody\n', [/^1:3 "Nobody"/]],
  ['page.js', "// It\nalert('it is told');\n", [/^2:14 "told"/]],
  ['main.test.ts', "test('nobody', () => {});\n", [/^1:7 "nobody"/]],
  ['main.test.ts', "test.each([\n  1,\n])('%s: nobody', () => {});\n", [/^3:9 "nobody"/]],
  ['main.test.ts', "describe.skipIf(isOff)('nobody', () => {});\n", [/^1:25 "nobody"/]],
  ['rules.yml', '- alert: ProviderTold\n  summary: Told\n', [/^2:12 "Told"/]],
  ['board.json', '{"title": "Uploads told"}\n', [/^1:20 "told"/]],
])('finds in %s: %j', async (file, text, expected) => {
  expect(await found(file, text)).toEqual(expected.map((message) => expect.stringMatching(message)));
});

test.each([
  ['page.md', 'Set `FILM_NAME`; the queue is probe-films, the address `/id/film.mp4`.\n'],
  ['main.ts', "const queue = 'probe-films';\nconst jobs = config.FILM_NAME; // `told`\nclass A { constructor() {} }\n"],
])('passes %s: %j', async (file, text) => expect(await found(file, text)).toEqual([]));
