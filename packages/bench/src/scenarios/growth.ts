import { mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fillFolder, type Uploads } from '@echodrop/archive/fill-folder.fixture';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { renditionKey } from '@echodrop/object-store/object-keys';
import { s3ObjectStore } from '@echodrop/object-store/s3/s3-object-store';
import { Secret } from '@echodrop/service/secret';
import { findMinio } from '@echodrop/testkit/servers/minio-source';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { startMinio } from '@echodrop/testkit/servers/start-minio';
import { execa } from 'execa';
import { cpuMsOf } from '../process-usage.ts';
import type { Bench } from '../scenario.ts';
import type { WorkCost, WorkRequest } from '../stand-ins/archive-work.ts';

const program = join(import.meta.dirname, '../stand-ins/archive-work.ts');
const provider = 'https://id.example/verify';
const works = ['sweep all', 'sweep new', 'verify', 'rebuild'] as const;
const names = {
  'sweep all': 'sweep that reads all records',
  'sweep new': 'sweep after another',
  verify: 'verify-store without bytes',
  rebuild: 'rebuild-listings without a change',
};
// Otherwise V8 collects garbage late, and the peak shows when.
const flags = ['--max-semi-space-size=8', '--max-old-space-size=256'];
const concurrency = 32;
const pageOwners = { large: 'a quarter of all uploads', small: '100 uploads' };
// An upload to MinIO takes longer than the files of one.
const minioShare = 20;

interface Stored extends AsyncDisposable {
  readonly store: Pick<WorkRequest, 'folder' | 'minio'>;
  /** Milliseconds of processor time of the store's own process so far. */
  readonly cpuMs: () => number;
}

/** Measures what lists and commands cost in a store, and in one with ten times as many uploads. */
export async function measureGrowth(bench: Bench): Promise<void> {
  const { growth } = bench.options;
  await measureKind(bench, 'folder', growth, (owners) => fillNewFolder(bench, owners));
  if (await findMinio()) await measureKind(bench, 'MinIO', Math.ceil(growth / minioShare), fillNewMinio);
}

async function measureKind(
  { figures, options }: Bench,
  variant: string,
  uploads: number,
  fill: (owners: readonly Uploads[]) => Promise<Stored>,
): Promise<void> {
  const label = (unit: string) => ({ system: 'echodrop', variant, unit });
  const costs = new Map<string, WorkCost>();
  for (const count of [Math.ceil(uploads / 10), uploads]) {
    await using stored = await fill(ownersOf(count));
    for (const work of works) {
      const cost = await run(stored, { work });
      const before = costs.get(work);
      costs.set(work, cost);
      if (!before) continue;
      const ratio = cost.cpuMs / count / (before.cpuMs / Math.ceil(uploads / 10));
      figures.add(`${names[work]}, per upload`, label('ms'), cost.cpuMs / count);
      figures.add(`${names[work]}, with ten times as many uploads, per upload`, label(''), ratio);
      figures.add(`memory of ${names[work]}, with ten times as many uploads`, label(''), cost.peakMiB / before.peakMiB);
    }
    if (count === uploads)
      await measurePages(stored, options.rounds, (ratio) =>
        figures.add(`list page of an owner with ${pageOwners.large} / with ${pageOwners.small}`, label(''), ratio),
      );
  }
}

async function measurePages(stored: Stored, rounds: number, add: (ratio: number) => void): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const large = await run(stored, { work: 'pages', owner: { provider, subject: 'large' } });
    const small = await run(stored, { work: 'pages', owner: { provider, subject: 'small' } });
    add(large.cpuMs / small.cpuMs);
  }
}

async function run({ store, cpuMs }: Stored, request: Pick<WorkRequest, 'work' | 'owner'>): Promise<WorkCost> {
  const before = cpuMs();
  const { stdout } = await execa(process.execPath, [...flags, program, JSON.stringify({ ...store, ...request })]);
  const cost = JSON.parse(stdout) as WorkCost;
  return { ...cost, cpuMs: cost.cpuMs + cpuMs() - before };
}

/** One owner has a quarter of the uploads, one has 100, and each other has up to 300. */
function ownersOf(uploads: number): Uploads[] {
  const large = Math.floor(uploads / 4);
  const small = Math.min(100, uploads);
  const owners = [
    { provider, subject: 'large', count: large },
    { provider, subject: 'small', count: small },
  ];
  for (let rest = uploads - large - small; rest > 0; rest -= 300)
    owners.push({ provider, subject: `${rest}`, count: Math.min(rest, 300) });
  return owners;
}

async function fillNewFolder({ shared }: Bench, owners: readonly Uploads[]): Promise<Stored> {
  const folder = await mkdtempDisposable(join(shared.folder, 'growth-'));
  fillFolder(folder.path, owners);
  return { store: { folder: folder.path }, cpuMs: () => 0, [Symbol.asyncDispose]: () => folder.remove() };
}

async function fillNewMinio(owners: readonly Uploads[]): Promise<Stored> {
  const minio = await startMinio();
  const { endpoint, region, bucket, accessKey, secretKey } = minio;
  const keys = { accessKey: new Secret(accessKey), secretKey: new Secret(secretKey) };
  await using store = s3ObjectStore({ endpoint, region, bucket, ...keys });
  await store.ready();
  const waiting = owners.flatMap(({ count, ...owner }) => Array.from({ length: count }, (_, n) => ({ ...owner, n })));
  const publish = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { n, ...owner } = next;
      const { mediaKey } = await publishSample(store, { ...owner, timestamp: new Date(Date.UTC(2023, 0, 1, n)) });
      const key = renditionKey(mediaKey, { name: 'mini', version: 4, extension: 'jpg' });
      await store.put(key, Readable.from([Buffer.from('media')]));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, publish));
  const pid = minio.server instanceof ServerProcess ? minio.server.pid : undefined;
  return {
    store: { minio: { endpoint, region, bucket, accessKey, secretKey } },
    cpuMs: () => (pid === undefined ? 0 : cpuMsOf([pid])),
    [Symbol.asyncDispose]: () => minio[Symbol.asyncDispose](),
  };
}
