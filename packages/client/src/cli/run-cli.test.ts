import { expect, test } from 'vitest';
import { run } from './run-cli.fixture.ts';

test('`help <command>` equals `<command> --help`', async () => {
  const help = await run(['help', 'login']);
  expect(help).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: echodrop login /) });
  expect(help).toEqual(await run(['login', '--help']));
});

test('`help` of an unknown command says that it is unknown', async () => {
  const { status, stdout, stderr } = await run(['help', 'uplod']);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^error: unknown command 'uplod'\n\(Did you mean upload\?\)/);
});

test('`upload --help` says from where server and user come', async () => {
  const { stdout } = await run(['upload', '--help']);
  expect(stdout).toMatch(/^Server and user come from the first of these that is given:\n {2}1\. --profile/m);
});
