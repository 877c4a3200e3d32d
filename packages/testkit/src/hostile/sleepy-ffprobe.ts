import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '../wait-until.ts';
import { hostileFfprobe } from './hostile-ffprobe.ts';

/** An ffprobe that hangs when first called for a video; later calls run the real ffprobe. */
export interface SleepyFfprobe extends AsyncDisposable {
  /** A PATH in which it comes first. */
  readonly path: string;
  /** Resolves when it hangs. */
  readonly called: () => Promise<void>;
}

export async function sleepyFfprobe(): Promise<SleepyFfprobe> {
  const usual = `if [ -e "$folder/called" ] || [ "$1" = -version ]; then PATH='${process.env.PATH}' exec ffprobe "$@"; fi`;
  const program = await hostileFfprobe(`${usual}\n: > "$folder/called"\nexec sleep 600`);
  const isCalled = () => access(join(program.folder, 'called')).then(() => true);
  return { ...program, called: () => waitUntil('a call of ffprobe', isCalled) };
}
