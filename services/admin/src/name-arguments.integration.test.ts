import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { findRecord } from '@echodrop/archive/records';
import { expect, test } from 'vitest';
import { runCommand, useDataDir } from './admin.fixture.ts';
import { adminProgram } from './run-admin.ts';

const dataDir = useDataDir();
const run = (...args: string[]) => runCommand(args, { DATA_DIR: dataDir.folder });
const quoted = /"(?:[^"\\]|\\.)*"/g;

const names = {
  provider: 'https://id.example/\u202e',
  // As long as a provider's id may be.
  subject: `\0\ud800\u202e"'\\ ${'\u200b'.repeat(248)}`,
  application: '\u001b[31m',
};

test('every command finds a user or an application as list, show and blocks print it', async () => {
  const { id } = await publishSample(dataDir.store, names);
  const other = await publishSample(dataDir.store, { ...names, subject: '1' });
  const [, line = ''] = (await run('list')).lines.filter((each) => !each.includes(other.id));
  const [, provider = '', subject = ''] = line.match(quoted) ?? [];
  const { lines } = await run('show', id);
  for (const [label, value] of Object.entries({ provider, subject }))
    expect(lines.find((each) => each.startsWith(`${label} `))?.match(quoted)).toEqual([value]);

  expect((await run('list', provider, subject)).lines.filter((each) => / jpg /.test(each))).toEqual([
    expect.stringContaining(id),
  ]);
  const exported = join(dataDir.folder, 'export');
  expect((await run('export', provider, subject, exported)).exitCode).toBe(0);
  expect((await readdir(exported)).toSorted()).toEqual([`${id}.jpg`, `${id}.json`]);

  expect((await run('block-user', provider, subject)).stdout).not.toContain('No uploads found');
  expect((await run('show', id)).stdout).toMatch(/^blocked +the user, since 20\S+$/m);
  const [blockedSubject = '', blockedProvider = ''] = (await run('blocks')).stdout.match(quoted) ?? [];
  expect((await run('unblock-user', blockedProvider, blockedSubject)).stdout).toMatch(/^Unblocked user/);
  expect((await run('show', id)).stdout).toMatch(/^blocked +no$/m);

  const [, , , application = ''] = line.match(quoted) ?? [];
  expect((await run('block-application', application)).stdout).toMatch(/^Blocked application/);
  expect((await run('show', id)).stdout).toMatch(/^blocked +the application, since 20\S+$/m);
  expect((await run('unblock-application', application)).stdout).toMatch(/^Unblocked application/);

  expect((await run('purge', provider, subject, '--yes')).stdout).toBe(`${id}: deleted\nDeleted 1 uploads.`);
  expect(await findRecord(dataDir.store, other.id)).toEqual(other);
});

const takers = adminProgram({}, process).commands.flatMap((command) => {
  const taken = command.registeredArguments.map((argument) => argument.name());
  return taken.flatMap((name, position) =>
    command.name().endsWith('-application') || name === 'provider' || name === 'subject'
      ? [{ command: command.name(), name, count: taken.length, position }]
      : [],
  );
});

test.each(takers)('$command reads $name in quotes, and rejects malformed ones', async (taker) => {
  const { command, name, count, position } = taker;
  const args = Array.from({ length: count }, (_, n) => (n === position ? '"\\x"' : 'a'));
  const { exitCode, stderr } = await run(command, ...args);
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringMatching(new RegExp(`invalid for argument '${name}'\\. Malformed JSON string`)),
  ]);
  const help = (await run(command, '--help')).stdout.replaceAll(/\s+/g, ' ');
  expect(help).toContain('in double quotes exactly as `list` and `show` print it');
});
