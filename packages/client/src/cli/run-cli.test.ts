import { expect, test } from 'vitest';
import { run } from './run-cli.fixture.ts';

test('`help <command>` equals `<command> --help`', async () => {
  const help = await run(['help', 'login']);
  expect(help).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: echodrop login /) });
  expect(help).toEqual(await run(['login', '--help']));
});

test('`upload --help` says where uploads go, and as which user', async () => {
  const { stdout } = await run(['upload', '--help']);
  expect(stdout).toMatch(/^Uploads go to the server of the profile `default`, as the user who signed in there\./m);
});
