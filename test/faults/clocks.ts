import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onDispose } from './on-dispose.ts';

const libraries = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`);

/** The clock of the processes that are started with `settings`. */
export interface OwnClock {
  readonly settings: Record<string, string>;
  /** Makes it jump by so many seconds, until it is undone. */
  jump(seconds: number): Promise<AsyncDisposable>;
}

/** What this machine has not got for clocks of our own; undefined if nothing. */
export async function missingForClocks(): Promise<string | undefined> {
  return (await faketime()) === undefined ? 'libfaketime (Debian: apt-get install libfaketime)' : undefined;
}

/** Makes a clock that is set by a file in `folder`, which is right at first. @throws Error without libfaketime */
export async function makeClock(folder: string): Promise<OwnClock> {
  const library = await faketime();
  if (library === undefined) throw new Error('there is no libfaketime');
  const file = join(folder, 'clock');
  const set = (seconds: number) => writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  await set(0);
  return {
    settings: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    async jump(seconds) {
      await set(seconds);
      return onDispose(() => set(0));
    },
  };
}

async function faketime(): Promise<string | undefined> {
  for (const path of libraries) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
