import { expect, test } from 'vitest';
import { run } from './run-cli.fixture.ts';

test('`help <command>` equals `<command> --help`', async () => {
  const help = await run(['help', 'login']);
  expect(help).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: echodrop login /) });
  expect(help).toEqual(await run(['login', '--help']));
});
