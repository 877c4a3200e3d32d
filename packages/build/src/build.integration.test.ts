import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@echodrop/testkit/free-ports';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { build } from './build.ts';
import { entryOf } from './entry-of.ts';

const scratch = () => mkdtempDisposable(join(tmpdir(), 'build-'));

test('a built service starts and finds its assets', async () => {
  await using folder = await scratch();
  await build(entryOf('sandbox-provider'), join(folder.path, 'built'));
  const ports = await freePorts(['service', 'ops']);
  const env = { PORT: String(ports.service), OPS_PORT: String(ports.ops) };
  const isReady = () =>
    fetch(`http://127.0.0.1:${ports.ops}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await using _service = await ServerProcess.start({
    command: [process.execPath, join(folder.path, 'built/main.js')],
    env,
    isReady,
  });
  expect((await fetch(`http://127.0.0.1:${ports.service}/style.css`)).status).toBe(200);
});

test('native code and its dependencies stay outside the bundle', async () => {
  await using folder = await scratch();
  await build(entryOf('probe-worker'), join(folder.path, 'built'));
  const listed = await readFile(join(folder.path, 'built/external-packages'), 'utf8');
  expect(listed).toMatch(/^node_modules\/\.pnpm\/sharp@[^/]+$/m);
  expect(listed).toMatch(/^node_modules\/\.pnpm\/@img\+sharp-libvips-[^/]+$/m);
  expect(listed).not.toMatch(/bullmq|undici@|rolldown/);
  const { exitCode, stderr } = await execa(process.execPath, [join(folder.path, 'built/main.js')], {
    env: { OPS_PORT: 'none' },
    reject: false,
  });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 78, stderr: expect.stringContaining('OPS_PORT must be') });
});

test('also builds a program started by its URL; other URLs still point to the source', async () => {
  await using folder = await scratch();
  const source = join(folder.path, 'source');
  await mkdir(source);
  await writeFile(join(source, 'program.ts'), `const name: string = 'program';\nconsole.log(name);\n`);
  await writeFile(
    join(source, 'main.ts'),
    `export const program: string = new URL('program.ts', import.meta.url).pathname;
     console.log(program);
     console.log(new URL('style.css', import.meta.url).pathname);\n`,
  );
  const built = join(folder.path, 'built');
  await build(join(source, 'main.ts'), built);
  const { stdout } = await execa(process.execPath, [join(built, 'main.js')]);
  expect(stdout.split('\n')).toEqual([join(built, 'program.js'), join(source, 'style.css')]);
  expect((await execa(process.execPath, [join(built, 'program.js')])).stdout).toBe('program');
});
