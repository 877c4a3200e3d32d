import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { listen } from '@echodrop/testkit/servers/listen';
import { expect, test } from 'vitest';

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
  return { ...(await listen(server)), arrived: arrived.promise };
}

const commands: readonly (readonly [held: string, line: string, command: readonly string[]])[] = [
  ['prefix=media', 'Interrupted. Repeat the command: it starts over.', ['sweep']],
  ['prefix=media', 'stays deleted. Repeat the command: it starts over.', ['sweep', '--yes']],
  ['prefix=records', 'Interrupted.', ['verify-store']],
  ['prefix=media', 'To continue: --after media/', ['verify-store', '--after', 'media/']],
  ['prefix=by-time', 'added 0 uploads to the listings', ['rebuild-listings']],
  ['prefix=records', 'deleted 0 uploads. Repeat the command to finish.', ['purge', '--yes', ...owner]],
  ['prefix=resumable', 'Interrupted.', ['purge', ...owner]],
  ['prefix=records', 'exported 0 uploads. Repeat the command with an empty folder.', ['export', ...owner, 'FOLDER']],
  ['prefix=by-time', 'Interrupted.', ['list']],
  ['provider', 'Interrupted.', ['provider-test', 'mastodon PEER/provider']],
];

test.each(commands)('Ctrl-C, which arrives twice, at %s: "%s"', async (held, line, [name = '', ...args]) => {
  await using peer = await startPeer(held);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'interrupt-'));
  const given = args.map((arg) => arg.replace('PEER', peer.origin).replace('FOLDER', join(folder.path, 'export')));
  const command = spawn('npm', ['run', '-s', 'admin', '--', name, ...given], {
    cwd: join(import.meta.dirname, '../../..'),
    env: {
      ...process.env,
      OBJECT_STORE: 's3',
      S3_ENDPOINT: peer.origin,
      S3_BUCKET: 'echodrop',
      S3_ACCESS_KEY: 'key',
      S3_SECRET_KEY: 'secret',
    },
    // A group of its own, like a command of a terminal.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = Promise.all([text(command.stdout), text(command.stderr)]);
  const exited = once(command, 'exit');
  await Promise.race([peer.arrived, output.then((early) => expect.fail(`${early}`))]);
  for (const _ of ['terminal', 'npm']) process.kill(-(command.pid ?? Number.NaN), 'SIGINT');
  const lines = await output;
  expect(lines.join('')).toContain(line);
  expect(lines.join('')).toContain('Interrupted.');
  expect(await exited).toEqual([1, null]);
});
