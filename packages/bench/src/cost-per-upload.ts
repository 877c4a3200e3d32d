/**
 * How much processor time each part of the system spends on an upload, and how much memory it holds afterwards: for photos, and for
 * films that are copied, with their renditions, with MinIO as the store. Processor time says how many machines a load needs; unlike
 * uploads per second it hardly depends on who else uses the machine.
 *
 *     MINIO_BIN=... node packages/bench/src/cost-per-upload.ts
 */
import { readdir, readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { sampleFilm, samplePhoto } from '@echodrop/testkit/sample-media';
import { startMinio } from '@echodrop/testkit/start-minio';
import { startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';

const ticksPerSecond = 100;
const pageBytes = 4096;
const atOnce = 8;

await using minio = await startMinio();
await using stack = await startStack({ settings: minio.settings });

const media = {
  'photo of 12 million pixels': await samplePhoto('jpg', {
    width: 4000,
    height: 3000,
    options: ['-vf', 'noise=alls=10'],
  }),
  'film of 10 s, 1080p, H.264': await sampleFilm('mp4', {
    width: 1920,
    height: 1080,
    seconds: 10,
  }),
};
const uploads = 40;
const jobs = `local sum = 0
for _, key in ipairs(redis.call('KEYS', '{echodrop}:*')) do
  if key:match(':wait$') or key:match(':active$') then sum = sum + redis.call('LLEN', key) end
  if key:match(':prioritized$') then sum = sum + redis.call('ZCARD', key) end
end
return sum`;

for (const [kind, bytes] of Object.entries(media)) {
  await uploadAll(bytes, atOnce);
  await idle();
  const before = await costs();
  const begin = performance.now();
  await uploadAll(bytes, uploads);
  const seconds = (performance.now() - begin) / 1000;
  await idle();
  const after = await costs();
  print(
    `${kind}, ${(bytes.length / 2 ** 20).toFixed(1)} MiB: ${uploads} uploads in ${seconds.toFixed(1)} s, ${atOnce} at once, ${cpus().length} cores`,
  );
  for (const [part, { seconds: spent, bytes: resident }] of after) {
    const each = ((spent - (before.get(part)?.seconds ?? 0)) / uploads) * 1000;
    print(
      `  ${part.padEnd(18)} ${each.toFixed(1).padStart(8)} ms of processor time an upload  ${(resident / 2 ** 20).toFixed(0).padStart(5)} MiB resident`,
    );
  }
}

async function uploadAll(bytes: Buffer, count: number): Promise<void> {
  let left = count;
  const one = async () => {
    while (left-- > 0) {
      const { status, text } = await upload(stack, { media: bytes });
      if (status !== 200) throw new Error(`${status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

// Renditions are made after the answer.
async function idle(): Promise<void> {
  await waitUntil(
    'the end of all renditions',
    600_000,
    async () => (await stack.redis.command('EVAL', jobs, '0')) === '0',
  );
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly part: string | undefined;
  /** Of the processor, with those of its children that have ended. */
  readonly seconds: number;
  readonly bytes: number;
}

/** Processor time and resident memory of each part, with what it has started, by the part's name. */
async function costs(): Promise<Map<string, { seconds: number; bytes: number }>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const looked = await Promise.all(pids.map((pid) => processOf(Number(pid)).catch(() => undefined)));
  const processes = new Map(looked.flatMap((each) => (each ? [[each.pid, each] as const] : [])));
  const sums = new Map<string, { seconds: number; bytes: number }>();
  for (const each of processes.values()) {
    const part = partOf(each, processes);
    if (part === undefined) continue;
    const sum = sums.get(part) ?? { seconds: 0, bytes: 0 };
    sums.set(part, { seconds: sum.seconds + each.seconds, bytes: sum.bytes + each.bytes });
  }
  return sums;
}

// proc(5): the fields after the program's name begin with the state, which is the third.
async function processOf(pid: number): Promise<Process> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  return {
    pid,
    parent: field(4),
    part: /services\/([\w-]+)\/src\/main\.ts|(minio|silo|redis-server)/.exec(command)?.slice(1).find(Boolean),
    seconds: (field(14) + field(15) + field(16) + field(17)) / ticksPerSecond,
    bytes: field(24) * pageBytes,
  };
}

// A part is started by this process; what it starts itself is counted with it.
function partOf(each: Process, processes: ReadonlyMap<number, Process>): string | undefined {
  if (each.parent === process.pid) return each.part;
  const parent = processes.get(each.parent);
  return parent && partOf(parent, processes);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
