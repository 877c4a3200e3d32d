import { existsSync } from 'node:fs';
import { mkdir, mkdtempDisposable, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtService } from '@echodrop/testkit/built-service';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { build } from './build.ts';
import { builtPrograms, hashOf } from './built-programs.ts';

test('native code and its dependencies stay outside the bundle', async () => {
  const path = await builtService('probe-worker');
  const listed = await readFile(join(path, '../external-packages'), 'utf8');
  expect(listed).toMatch(/^node_modules\/\.pnpm\/sharp@[^/]+$/m);
  expect(listed).toMatch(/^node_modules\/\.pnpm\/@img\+sharp-libvips-[^/]+$/m);
  expect(listed).not.toMatch(/bullmq|undici@|rolldown/);
  const { exitCode, stderr } = await execa(process.execPath, [path], { env: { OPS_PORT: 'none' }, reject: false });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 78, stderr: expect.stringContaining('OPS_PORT must be') });
});

test('also builds a program started by its URL; other URLs still point to the source', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'build-'));
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

test('a folder becomes one of scripts for browsers', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'build-'));
  const file = (name: string, text: string) => writeFile(join(folder.path, name), text);
  await mkdir(join(folder.path, 'client'));
  await file('client/page.ts', `export const where: string = typeof document;`);
  await file('main.ts', `console.log(new URL('./client/', import.meta.url).pathname);`);
  const built = join(folder.path, 'built');
  await build(join(folder.path, 'main.ts'), built);
  const { stdout } = await execa(process.execPath, [join(built, 'main.js')]);
  expect(stdout).toBe(join(built, 'client/'));
  expect(await import(join(built, 'client/page.js'))).toMatchObject({ where: 'undefined' });
});

test('a build is used again, also by calls at the same time; a missing one is built again, and one in use stays when old ones are removed', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'built-'));
  const build = async () =>
    (await builtPrograms(['auth-verifier'], { folder: folder.path })).get('auth-verifier') ?? '';
  const [path = '', ...others] = await Promise.all([build(), build()]);
  const { mtimeMs } = await stat(path);
  expect([...others, await build()]).toEqual([path, path]);
  expect((await stat(path)).mtimeMs).toBe(mtimeMs);
  const { exitCode, stderr } = await execa(process.execPath, [path], { env: { OPS_PORT: 'none' }, reject: false });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 78, stderr: expect.stringContaining('OPS_PORT must be') });
  await rm(join(path, '..'), { recursive: true });
  expect(await build()).toBe(path);
  expect((await stat(path)).mtimeMs).not.toBe(mtimeMs);

  const unused = join(folder.path, 'unused');
  await mkdir(unused);
  const old = new Date(Date.now() - 8 * 24 * 60 * 60_000);
  for (const each of [unused, join(path, '../..')]) await utimes(each, old, old);
  const both = await builtPrograms(['auth-verifier', 'sandbox-provider'], { folder: folder.path });
  expect([...both.values(), unused].map((each) => existsSync(each))).toEqual([true, true, false]);
});

test('any change of a source is another build, also with an old modification time; a change of a test is not', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'sources-'));
  const file = (name: string) => join(folder.path, name);
  await writeFile(file('a.ts'), 'one');
  const hashes = [await hashOf(folder.path, ['**/*.ts'])];
  const add = async () => hashes.push(await hashOf(folder.path, ['**/*.ts']));
  const { atime, mtime } = await stat(file('a.ts'));
  await writeFile(file('a.ts'), 'two');
  await utimes(file('a.ts'), atime, mtime);
  await add();
  await rename(file('a.ts'), file('b.ts'));
  await add();
  await writeFile(file('c.ts'), '');
  await add();
  expect(new Set(hashes).size).toBe(4);
  await writeFile(file('c.test.ts'), 'a test');
  await add();
  expect(new Set(hashes).size).toBe(4);
});
