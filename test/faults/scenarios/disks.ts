import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scenario } from '../scenario.ts';
import { coverWithFullDisk, fillDisk, missingForDisks } from '../small-disk.ts';
import type { System, SystemKind } from '../start-system.ts';

/** Full disks of workers (scratch) and the store. The gateway has none. */
export const diskScenarios: readonly Scenario[] = [
  scratchFull('probe-worker'),
  scratchFull('rendition-worker'),
  storeFull('the disk of the store is full', 'all four nodes of the store keep their data', 'four nodes'),
  storeFull('the disk of the folder is full', 'the store keeps its folder', 'folder'),
];

function storeFull(name: string, contents: string, on: SystemKind): Scenario {
  return {
    name,
    breaks: `the disk on which ${contents} has no free block`,
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

// Killed workers leave folders; the running one has the latest.
async function scratchOf(worker: string, { scratch }: System): Promise<string> {
  const names = (await readdir(scratch)).filter((name) => name.startsWith(`${worker}-`));
  const folders = names.map((name) => join(scratch, name));
  const modified = await Promise.all(folders.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
  const [last] = modified.sort((a, b) => b.at - a.at);
  if (!last) throw new Error(`no scratch folder of a ${worker} found`);
  return last.path;
}
