import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdDataDir } from './hold-data-dir.ts';

let folder: string;
const { signal } = new AbortController();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hold-data-dir-'));
});

afterAll(() => rm(folder, { recursive: true }));

test('creates the directory for one holder at a time, and reports its pid to others', async () => {
  const dir = join(folder, 'a', 'b');
  {
    using _held = await holdDataDir(dir, signal);
    expect((await stat(dir)).isDirectory()).toBe(true);
    expect(await modeOf(dir)).toBe(0o700);
    await expect(holdDataDir(`${dir}/../b/`, signal)).rejects.toThrow(
      `Another Echodrop (process ${process.pid}) is using`,
    );
    using _other = await holdDataDir(join(folder, 'other'), signal);
  }
  using _again = await holdDataDir(dir, signal);
});

test.each([
  ['other text', (socket: Socket) => socket.end('1) is using\nupload page       http://evil.example')],
  ['nothing', (socket: Socket) => socket.end()],
  ['no end of text', (socket: Socket) => endlessly().pipe(socket)],
])('a stranger that listens at the address of the lock and sends %s gets no word into the error', async (_, send) => {
  const dir = join(folder, 'squatted');
  await mkdir(dir, { recursive: true });
  const id = createHash('sha256')
    .update(await realpath(dir))
    .digest('hex');
  const stranger = createServer((socket) => send(socket.on('error', () => {}))).listen(`\0echodrop-${id}`);
  await once(stranger, 'listening');
  await expect(holdDataDir(dir, signal)).rejects.toThrow(/^Another Echodrop is using \S+squatted\. Stop it/);
  await promisify(stranger.close.bind(stranger))();
});

function endlessly(): Readable {
  return Readable.from(
    (function* () {
      for (;;) yield 'x'.repeat(65_536);
    })(),
  ).on('error', () => {});
}

test('restricts access to an existing directory and its folders', async () => {
  const dir = join(folder, 'open');
  await mkdir(join(dir, 'logs'), { recursive: true, mode: 0o755 });
  await chmod(dir, 0o755);
  using _held = await holdDataDir(dir, signal);
  expect([await modeOf(dir), await modeOf(join(dir, 'logs'))]).toEqual([0o700, 0o700]);
});

test('restricts access only to the folders of the system if the directory contains others', async () => {
  const dir = join(folder, 'shared');
  await mkdir(join(dir, 'logs'), { recursive: true });
  await mkdir(join(dir, 'photos'));
  for (const each of [dir, join(dir, 'logs'), join(dir, 'photos')]) await chmod(each, 0o755);
  using _held = await holdDataDir(dir, signal);
  expect([await modeOf(dir), await modeOf(join(dir, 'logs')), await modeOf(join(dir, 'photos'))]).toEqual([
    0o755, 0o700, 0o755,
  ]);
});

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

test.each([
  ['/proc/nope', '/proc/nope'],
  ['/proc/nope/deeper', '/proc/nope'],
  ['/dev/null/data', '/dev/null'],
])('reports that %s cannot be created', async (dir, culprit) => {
  await expect(holdDataDir(dir, signal)).rejects.toThrow(new RegExp(`^DATA_DIR cannot be created: .*${culprit}\\b`));
});

test('throws if aborted', async () => {
  await expect(holdDataDir(join(folder, 'stopped'), AbortSignal.abort())).rejects.toThrow('aborted');
});
