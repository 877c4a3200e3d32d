import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createLinter, loadTextlintrc } from 'textlint';

// textlint skips files without an extension, such as Dockerfile. `.conf` selects the same reader.
const configFilePath = fileURLToPath(new URL('../../../.textlintrc.yml', import.meta.url));
const linter = createLinter({ descriptor: await loadTextlintrc({ configFilePath }) });
for (const file of process.argv.slice(2)) {
  const { messages } = await linter.lintText(await readFile(file, 'utf8'), `${file}.conf`);
  for (const { line, column, message } of messages) process.stderr.write(`${file}:${line}:${column} ${message}\n`);
  if (messages.length > 0) process.exitCode = 1;
}
