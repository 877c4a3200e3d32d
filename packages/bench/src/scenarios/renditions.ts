import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { faultsOf } from '../check-stored.ts';
import { generateLoad } from '../load.ts';
import { type Media, type RenderedName, rendered } from '../media.ts';
import { cpuMsOf } from '../process-usage.ts';
import { afterwardsMs, type Bench, rotate, startRoots } from '../scenario.ts';
import { type System, uploadServices } from '../systems.ts';

const uploadsOf: Record<RenderedName, number> = { '200 KB': 10, '3 MB': 6, '12 MP': 4, '10 s 1080p': 4 };
const plainPictures = 9;
const maxMs = 360_000;

const unfinished = `local sum = 0
for _, key in ipairs(redis.call('KEYS', '{echodrop}:rendition*')) do
  if key:match(':wait$') or key:match(':active$') then sum = sum + redis.call('LLEN', key) end
  if key:match(':prioritized$') or key:match(':delayed$') then sum = sum + redis.call('ZCARD', key) end
end
return sum`;

/** What the renditions cost that are made when a photo or video is published, beside plain sharp and plain ffmpeg. */
export async function measureRenditions(bench: Bench): Promise<void> {
  await using systems = new AsyncDisposableStack();
  const echodrops = await startRoots(bench, systems, { services: [...uploadServices, 'rendition-worker'] });
  const plain = fork(join(import.meta.dirname, '../stand-ins/plain-sharp.ts'), {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  systems.defer(() => void plain.kill('SIGKILL'));
  for (const name of rendered) {
    const media = bench.samples[name];
    for (const system of echodrops) await renderUploads(bench, system, media, 2);
    await renderPlainly(plain, media, 2);
    for (let round = 0; round < bench.options.rounds; round += 1) {
      const costs = new Map<System | 'plain', Cost>();
      for (const who of rotate([...echodrops, 'plain' as const], round)) {
        const count = uploadsOf[name];
        costs.set(
          who,
          who === 'plain' ? await renderPlainly(plain, media, count) : await renderUploads(bench, who, media, count),
        );
      }
      addFigures(bench, name, costs);
    }
  }
}

interface Cost {
  /** Milliseconds of processor time for all renditions of one photo or video. */
  readonly ms: number;
  readonly renditions: number;
}

function addFigures({ figures }: Bench, name: RenderedName, costs: ReadonlyMap<System | 'plain', Cost>): void {
  const plainMs = costs.get('plain')?.ms ?? 0;
  for (const [who, { ms, renditions }] of costs) {
    const isPlain = who === 'plain';
    const labels = { system: isPlain ? 'plain' : who.name, variant: name };
    figures.add('CPU of all renditions of one upload', { ...labels, unit: 'ms' }, ms);
    figures.add('renditions of one upload', { ...labels, unit: '' }, renditions);
    figures.add('renditions per CPU second', { ...labels, unit: '' }, (renditions / ms) * 1000);
    const ratio = name === '10 s 1080p' ? 'copied video / plain ffmpeg' : 'pictures / plain sharp';
    if (!isPlain) figures.add(ratio, { ...labels, unit: '' }, ms / plainMs);
  }
}

/** Uploads `media`, waits until no rendition job is left, and measures the rendition-worker and its tools. */
export async function renderUploads(
  { shared, figures }: Bench,
  system: System,
  media: Media,
  uploads: number,
): Promise<Cost> {
  const { kind, ports, bucket, processes, redis } = system;
  const worker = processes['rendition-worker'] ?? [];
  await shared.take(bucket);
  const before = cpuMsOf(worker);
  const result = await generateLoad({ kind, ports, media, uploads, connections: 2 });
  await sleep(afterwardsMs);
  await waitUntil('all renditions', async () => (await redis?.command('EVAL', unfinished, '0')) === '0', maxMs);
  const ms = (cpuMsOf(worker) - before) / uploads;
  const { objects } = await shared.take(bucket);
  const made = objects.filter(({ key }) => key.startsWith('renditions/')).map(({ key }) => key.split('/')[1]);
  const renditions = made.length / uploads;
  const isWhole = new Set(made).size === uploads && Number.isInteger(renditions);
  const missing = isWhole ? [] : [`${made.length} renditions of ${uploads} uploads`];
  figures.fault(`${system.name}, renditions of ${media.name}`, [...faultsOf(kind, media, result, objects), ...missing]);
  return { ms, renditions };
}

async function renderPlainly(plain: ChildProcess, media: Media, count: number): Promise<Cost> {
  const before = cpuMsOf([plain.pid ?? 0]);
  for (let n = 0; n < count; n += 1) {
    plain.send(media);
    await once(plain, 'message');
  }
  const isVideo = media.type === 'mp4';
  return { ms: (cpuMsOf([plain.pid ?? 0]) - before) / count, renditions: plainPictures + Number(isVideo) };
}
