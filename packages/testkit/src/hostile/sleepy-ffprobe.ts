import { access, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { waitUntil } from '../wait-until.ts';

/** An ffprobe that hangs the first time it is called to look at a video, and is the system's own from then on. */
export interface SleepyFfprobe extends AsyncDisposable {
  /** A PATH in which it comes first. */
  readonly path: string;
  /** Resolves when it has been called, and hangs. */
  readonly called: () => Promise<void>;
}

export async function sleepyFfprobe(): Promise<SleepyFfprobe> {
  const folder = await mkdtemp(join(tmpdir(), 'echodrop-ffprobe-'));
  const called = join(folder, 'called');
  const usual = process.env.PATH ?? '';
  const program = join(folder, 'ffprobe');
  await writeFile(
    program,
    `#!/bin/sh\nif [ -e '${called}' ] || [ "$1" = -version ]; then PATH='${usual}' exec ffprobe "$@"; fi\n: > '${called}'\nexec sleep 600\n`,
  );
  await chmod(program, 0o755);
  return {
    path: `${folder}${delimiter}${usual}`,
    called: () =>
      waitUntil('a call of ffprobe', 10_000, async () => {
        await access(called);
        return true;
      }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
