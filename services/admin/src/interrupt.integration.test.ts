import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { listen } from '@echodrop/testkit/servers/listen';
import { expect, test } from 'vitest';
import { runCommand } from './admin.fixture.ts';

const emptyList =
  '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated><KeyCount>0</KeyCount></ListBucketResult>';
const owner = ['https://id.example', 'ada'];

/** An empty store, or a provider. It does not respond to requests whose address contains `held`. */
async function startPeer(held: string) {
  const arrived = Promise.withResolvers<void>();
  const server = createServer(({ url = '' }, response) => {
    if (url.includes(held)) arrived.resolve();
    else response.end(emptyList);
  });
  const peer = await listen(server);
  const settings = {
    OBJECT_STORE: 's3',
    S3_ENDPOINT: peer.origin,
    S3_BUCKET: 'echodrop',
    S3_ACCESS_KEY: 'key',
    S3_SECRET_KEY: 'secret',
  };
  return { ...peer, settings, arrived: arrived.promise };
}

const commands: readonly (readonly [held: string, line: string, command: readonly string[]])[] = [
  ['prefix=media', 'Interrupted. Repeat the command: it starts over.', ['sweep']],
  ['prefix=records', 'Interrupted.', ['verify-store']],
  ['prefix=media', 'To continue: --after media/', ['verify-store', '--after', 'media/']],
  ['prefix=by-time', 'added 0 uploads to the listings', ['rebuild-listings']],
  ['prefix=records', 'deleted 0 uploads. Repeat the command to finish.', ['purge', '--yes', ...owner]],
  ['prefix=resumable', 'Interrupted.', ['purge', ...owner]],
  ['prefix=records', 'exported 0 uploads. Repeat the command with an empty folder.', ['export', ...owner, 'FOLDER']],
  ['prefix=by-time', 'Interrupted.', ['list']],
  ['provider', 'Interrupted.', ['provider-test', 'mastodon PEER/provider']],
];

test.each(commands)('an interruption at %s: "%s"', async (held, line, [name = '', ...args]) => {
  await using peer = await startPeer(held);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'interrupt-'));
  const given = args.map((arg) => arg.replace('PEER', peer.origin).replace('FOLDER', join(folder.path, 'export')));
  const stop = new AbortController();
  const running = runCommand([name, ...given], peer.settings, stop.signal);
  await Promise.race([peer.arrived, running.then((early) => expect.fail(JSON.stringify(early)))]);
  stop.abort(new Error('Interrupted.'));
  const { exitCode, stdout, stderr } = await running;
  expect([exitCode, stdout + stderr]).toEqual([1, expect.stringContaining(line)]);
  expect(stderr).toContain('Interrupted.');
});

test('Ctrl-C, which arrives twice, ends a command once', async () => {
  await using peer = await startPeer('prefix=media');
  const command = spawn('npm', ['run', '-s', 'admin', '--', 'sweep', '--yes'], {
    cwd: join(import.meta.dirname, '../../..'),
    env: { ...process.env, ...peer.settings },
    // A group of its own, like a command of a terminal.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = Promise.all([text(command.stdout), text(command.stderr)]);
  const exited = once(command, 'exit');
  await Promise.race([peer.arrived, output.then((early) => expect.fail(`${early}`))]);
  // As the terminal does. npm, which is in the group too, sends the command a second one.
  process.kill(-(command.pid ?? Number.NaN), 'SIGINT');
  expect((await output).join('')).toContain('Interrupted. What was deleted stays deleted. Repeat the command');
  expect(await exited).toEqual([1, null]);
});
