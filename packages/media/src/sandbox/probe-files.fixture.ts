import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { patientSignal } from '@echodrop/testkit/patience';
import { probeMedia } from '../probe-media.ts';
import { describeProbe } from '../probed.fixture.ts';
import { cpuSeconds } from './cpu-seconds.fixture.ts';

/** What the probe of a file found, in the words of HostileMedia, and what it cost. */
export interface FileProbe {
  readonly found: string;
  readonly isMedia: boolean;
  readonly cpuSeconds: number;
  readonly bytesRead: number;
  readonly longestRead: number;
}

export interface ProbeReport {
  /** In the order of the file names, which are numbers. */
  readonly probes: readonly FileProbe[];
  /** How much the peak of this process's memory grew, in bytes. */
  readonly grownBy: number;
}

async function probeFile(path: string, scratchDir: string): Promise<FileProbe> {
  await using file = await open(path);
  const { size } = await file.stat();
  let bytesRead = 0;
  let longestRead = 0;
  const read = async (offset: number, length: number) => {
    bytesRead += length;
    longestRead = Math.max(longestRead, length);
    return (await file.read(Buffer.alloc(length), 0, length, offset)).buffer;
  };
  const source = { size, head: await read(0, Math.min(size, 16 * 1024)), read };
  const before = cpuSeconds();
  const probe = await probeMedia(source, { scratchDir, maxPixels: 1e8, signal: patientSignal() });
  const cost = { cpuSeconds: cpuSeconds() - before, bytesRead, longestRead };
  return { found: describeProbe(probe), isMedia: probe.outcome === 'media', ...cost };
}

// Probes every file of a folder, one after another, as a process of its own: probe-files.fixture.ts <folder> <scratch folder>.
// Prints a ProbeReport.
if (import.meta.main) {
  const [, , folder = '', scratchDir = ''] = process.argv;
  const kibibytes = () => process.resourceUsage().maxRSS;
  const names = (await readdir(folder)).sort((a, b) => Number(a) - Number(b));
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  const atStart = kibibytes();
  const probes: FileProbe[] = [];
  for (const name of names) {
    probes.push(await probeFile(join(folder, name), scratchDir));
    // Otherwise the peak says when V8 happens to collect.
    collectGarbage();
  }
  process.stdout.write(JSON.stringify({ probes, grownBy: (kibibytes() - atStart) * 1024 } satisfies ProbeReport));
}
