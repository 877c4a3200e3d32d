import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { waitUntil } from '../wait-until.ts';

/** A shell script in the place of a tool, and what has become of its processes. */
export interface HostileFfprobe extends AsyncDisposable {
  /** Its own, gone with it; beside the program holds what a script leaves there. */
  readonly folder: string;
  /** A PATH in which it comes first. */
  readonly path: string;
  /** How many of its processes have ever run. */
  readonly started: () => Promise<number>;
  /** Waits until none of them runs; zombies do not run. */
  readonly allEnded: (withinMs: number) => Promise<void>;
}

/**
 * Writes `script` to a program of that name. Its first process is counted; each other one counts itself by `. "$count"`, as a directory that
 * is named by its process id: no file may be written, and only the process itself knows its id.
 * `$folder` is the program's.
 */
export async function hostileFfprobe(
  script: string,
  program: 'ffprobe' | 'ffmpeg' | 'node' = 'ffprobe',
): Promise<HostileFfprobe> {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-ffprobe-'));
  const pids = join(folder, 'pids');
  await mkdir(pids);
  await writeFile(join(folder, 'count'), `read pid _ < /proc/self/stat\nmkdir '${pids}/'$pid\n`);
  const prelude = `export folder='${folder}' count='${folder}/count'\n. "$count"\n`;
  await writeFile(join(folder, program), `#!/bin/sh\n${prelude}${script}\n`, { mode: 0o755 });
  const ids = () => readdir(pids);
  return {
    folder,
    path: `${folder}${delimiter}${process.env.PATH}`,
    started: async () => (await ids()).length,
    allEnded: (withinMs) =>
      waitUntil(
        'the end of every process',
        withinMs,
        async () => !(await Promise.all((await ids()).map(lives))).includes(true),
      ),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

// A killed process that its new parent has not reaped is a zombie: dead.
async function lives(pid: string): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return status !== '' && !/\) [ZX] /.test(status);
}
