import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onDispose } from './on-dispose.ts';

const libraries = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`);

/** A clock for processes started with `settings`. */
export interface OwnClock {
  readonly settings: Record<string, string>;
  /** Shifts the clock until the result is disposed of. */
  jump(seconds: number): Promise<AsyncDisposable>;
}

/** What this machine lacks for separate clocks, if anything. */
export async function missingForClocks(): Promise<string | undefined> {
  return (await faketime()) === undefined ? 'libfaketime (Debian: apt-get install libfaketime)' : undefined;
}

/** Creates a clock, correct at first, that is shifted by a file in `folder`. @throws Error without libfaketime */
export async function makeClock(folder: string): Promise<OwnClock> {
  const library = await faketime();
  if (library === undefined) throw new Error('libfaketime is not installed');
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
