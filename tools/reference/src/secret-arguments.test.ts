import { glob, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');

// An option or `env` with a token, a password, or the content of a file.
const option = /(?:^|\s)(?:-[A-Za-z]|--(?:header|form|user|env)|env)[ =]?(?:"[^"\n]*"|'[^'\n]*'|\S+)/gm;
const secret =
  /\bBearer (?!sandbox-)|\$\((?:cat|head) |_(?:AUTH|BEARER|TOKEN|PASSWORD|SECRET)=|(?:secret|token)=|<password>/;

test.each(['host', 'start'])(
  'no command in docs/%s has a secret among its arguments, which all users can read',
  async (folder) => {
    const found = [];
    for await (const page of glob(`docs/${folder}/*.md`, { cwd: root })) {
      const text = await readFile(resolve(root, page), 'utf8');
      const options = [...text.matchAll(option), ...text.matchAll(/--[\w-]*password=\S+/g)].map(([match]) => match);
      found.push(
        ...options.filter((each) => secret.test(each) || each.includes('password=')).map((each) => `${page}: ${each}`),
      );
    }
    expect(found).toEqual([]);
  },
);
