import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';

const minimal = { input: 'int main(void) { return 0; }', reject: false } as const;
/** Whether tests can compile the replacement: some systems lack the static C library. */
export const hasCompiler = execaSync('cc', ['-static', '-xc', '-o', '/dev/null', '-'], minimal).exitCode === 0;

/** A replacement of a media tool whose decoder was taken over, compiled to a program without libraries. */
export interface HijackedTool extends AsyncDisposable {
  readonly program: string;
  /** Holds `in/media`, `job`, `secret` and a UNIX socket that is listened to, as is the abstract one of the folder's name. */
  readonly folder: string;
}

/** Compiles hijacked-tool.fixture.c, and sets up what it tries to reach. */
export async function hijackedTool(): Promise<HijackedTool> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'hijacked-')), (path) => rm(path, { recursive: true }));
  for (const each of ['in', 'job']) await mkdir(join(folder, each));
  await writeFile(join(folder, 'in/media'), 'media');
  await writeFile(join(folder, 'secret'), 'secret');
  const byPath = parts.use(createServer().listen(join(folder, 'socket')));
  const byName = parts.use(createServer().listen({ path: `\0${folder}` }));
  const byTcp = parts.use(createServer().listen(0, '127.0.0.1'));
  await Promise.all([byPath, byName, byTcp].map((server) => server.listening || once(server, 'listening')));
  const { port } = byTcp.address() as { port: number };
  const program = join(folder, 'hijacked');
  await compileHijackedTool(program, { folder, port });
  const owned = parts.move();
  return { program, folder, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Compiles the replacement alone, for a container in which `folder` may not exist. */
export async function compileHijackedTool(program: string, reach: { folder: string; port: number }): Promise<void> {
  const source = join(import.meta.dirname, 'hijacked-tool.fixture.c');
  const defines = [`-DFOLDER="${reach.folder}"`, `-DPORT=${reach.port}`];
  await execa('cc', ['-static', '-O1', '-Wall', ...defines, '-o', program, source]);
}
