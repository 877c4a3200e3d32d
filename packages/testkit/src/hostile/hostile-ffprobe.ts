import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isRunning } from '../is-running.ts';
import { waitUntil } from '../wait-until.ts';

/** A shell script that replaces a media tool, and counts its processes. */
export interface HostileFfprobe extends AsyncDisposable {
  /** Contains the program and files that the script writes. */
  readonly folder: string;
  /** A PATH in which the script comes first. */
  readonly path: string;
  /** The number of its processes that ever ran. */
  readonly started: () => Promise<number>;
  /** Waits until none of them runs, apart from zombies. */
  readonly allEnded: (withinMs?: number) => Promise<void>;
}

/**
 * Writes `script` as a program of that name. Its first process is counted; further ones count themselves with `. "$count"`, as a directory
 * named by process id: they may not write files, and only the process itself knows its id.
 * `$folder` is the folder of the program.
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
    allEnded: (withinMs) => waitUntil('the end of every process', async () => !(await ids()).some(isRunning), withinMs),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
