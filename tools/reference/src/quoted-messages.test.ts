import { glob, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const code = ['services', 'packages', 'tools', 'deploy'].map((folder) => `${folder}/**/*.{ts,js,conf,yaml,yml,json}`);

const fences = /```.*?```/gs;
/** Texts in quotation marks, and messages of logs: several words that begin with a capital. */
const quoted = /"([A-Z][^"\n]* [^"\n]*)"|`([A-Z][a-z]+(?: [A-Za-z]+)+)`/g;

test('the code contains each message that a page for operators quotes', async () => {
  let source = '';
  for await (const file of glob(code, {
    cwd: root,
    exclude: (name) => name === 'node_modules' || /\.test\.ts$/.test(name),
  }))
    source += await readFile(resolve(root, file), 'utf8');
  const isInCode = (message: string, examples: string) =>
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as in the code
    [message, message.replace(/picture|video/, () => '${what}')].some(
      (text) => source.includes(text) || examples.includes(text),
    );
  const unknown = [];
  for await (const page of glob('docs/host/*.md', { cwd: root })) {
    const text = await readFile(resolve(root, page), 'utf8');
    const examples = text.match(fences)?.join('') ?? '';
    for (const [, inMarks, inCode] of text.replaceAll(fences, '').matchAll(quoted)) {
      const message = inMarks ?? inCode ?? '';
      if (!isInCode(message, examples)) unknown.push(`${page}: ${message}`);
    }
  }
  expect(unknown).toEqual([]);
});
