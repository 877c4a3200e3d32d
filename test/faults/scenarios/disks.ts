import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scenario } from '../scenario.ts';
import { coverWithFullDisk, fillDisk, missingForDisks } from '../small-disk.ts';
import type { System, SystemKind } from '../start-system.ts';

/** Full disks: the scratch disks of workers, and the disk of the store. The gateway has none. */
export const diskScenarios: readonly Scenario[] = [
  scratchFull('probe-worker'),
  scratchFull('rendition-worker'),
  storeFull('the disk of the store is full', 'all four nodes of the store keep their data', 'four nodes'),
  storeFull('the disk of the folder is full', 'the store keeps its folder', 'folder'),
];

function storeFull(name: string, lies: string, on: SystemKind): Scenario {
  return {
    name,
    breaks: `the disk on which ${lies} has no free block`,
    forSeconds: 15,
    on,
    missing: missingForDisks,
    begin: async ({ system: { storeDisk }, broke }) => {
      if (storeDisk === undefined) throw new Error('the store has no disk of its own');
      const filled = await fillDisk(storeDisk);
      broke();
      return filled;
    },
  };
}

function scratchFull(worker: 'probe-worker' | 'rendition-worker'): Scenario {
  return {
    name: `the scratch disk of the ${worker} is full`,
    breaks: `the ${worker} can write nothing to its scratch folder (ENOSPC)`,
    forSeconds: 10,
    missing: missingForDisks,
    begin: async ({ system, broke }) => {
      const covered = await coverWithFullDisk(await scratchOf(worker, system));
      broke();
      return covered;
    },
  };
}

// Killed workers leave folders too; the folder of the running one was touched last.
async function scratchOf(worker: string, { scratch }: System): Promise<string> {
  const names = (await readdir(scratch)).filter((name) => name.startsWith(`${worker}-`));
  const folders = names.map((name) => join(scratch, name));
  const touched = await Promise.all(folders.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
  const [last] = touched.sort((a, b) => b.at - a.at);
  if (!last) throw new Error(`there is no scratch folder of a ${worker}`);
  return last.path;
}
