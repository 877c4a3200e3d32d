import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { probeMedia } from '../probe.ts';

// Probes every file of a folder, one after another, as a process of its own: probe-files.fixture.ts <folder> <scratch folder>. Prints as JSON how
// many probes there were, the most memory that this process ever held, and how long the longest look took.
const [, , folder = '', scratchDir = ''] = process.argv;
const kibibytes = () => process.resourceUsage().maxRSS;

let [probes, longestMs] = [0, 0];
const atStart = kibibytes();
for (const name of await readdir(folder)) {
  await using file = await open(join(folder, name));
  const { size } = await file.stat();
  const read = async (offset: number, length: number) =>
    (await file.read(Buffer.alloc(length), 0, length, offset)).buffer;
  const source = { size, head: await read(0, Math.min(size, 16 * 1024)), read };
  const started = performance.now();
  await probeMedia(source, { scratchDir, maxPixels: 1e8, signal: AbortSignal.timeout(20_000) });
  longestMs = Math.max(longestMs, performance.now() - started);
  probes += 1;
}
process.stdout.write(JSON.stringify({ probes, grownBy: (kibibytes() - atStart) * 1024, longestMs }));
