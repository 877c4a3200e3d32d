/** Does one kind of work on a store in a process of its own, and prints what it cost as JSON. */
import { listNewest } from '@echodrop/archive/listing';
import { type Owner, ownerHash } from '@echodrop/archive/owner';
import { rebuildListings } from '@echodrop/archive/rebuild-listings';
import { sweep } from '@echodrop/archive/sweep';
import { verifyStore } from '@echodrop/archive/verify-store';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { s3ObjectStore } from '@echodrop/object-store/s3/s3-object-store';
import { Secret } from '@echodrop/service/secret';
import { peakMiB } from '../process-usage.ts';

export interface WorkRequest {
  readonly folder?: string;
  readonly minio?: Readonly<Record<'endpoint' | 'region' | 'bucket' | 'accessKey' | 'secretKey', string>>;
  readonly work: keyof typeof works;
  readonly owner?: Owner;
}

export interface WorkCost {
  readonly cpuMs: number;
  readonly seconds: number;
  readonly peakMiB: number;
}

const dayMs = 86_400_000;
const pages = 200;
const warmUpPages = 50;
const olderThanMs = dayMs;

const works = {
  'sweep all': async (store: ObjectStore) => {
    requireClean((await sweep(store, { olderThanMs, dryRun: true })).report.kinds.media.found);
  },
  'sweep new': async (store: ObjectStore) => {
    // As if all uploads were older than the last sweep.
    const later = (days: number) => new Date(Date.now() + days * dayMs);
    const judged = { before: later(2), read: later(2) };
    const none = { found: 0, removed: 0, bytes: 0 };
    const kinds = { media: none, renditions: none, uploads: none, resumable: none };
    const last = { completed: later(2), kinds, listings: { missing: 0, added: 0 }, judged };
    store.clock = async () => later(4);
    requireClean((await sweep(store, { olderThanMs, dryRun: true, last })).report.kinds.media.found);
  },
  verify: async (store: ObjectStore) => {
    const options = { concurrency: 16, isMoved: false, shouldReadBytes: false };
    for await (const { findings } of verifyStore(store, options)) requireClean(findings.length);
  },
  rebuild: async (store: ObjectStore) => {
    for await (const { kind } of rebuildListings(store)) requireClean(kind === 'listed' ? 0 : 1);
  },
  pages: async (store: ObjectStore, owner?: Owner) => {
    for (let page = 0; page < pages; page += 1) await readPage(store, owner);
  },
} as const;

const { folder, minio, work, owner } = JSON.parse(process.argv[2] ?? '') as WorkRequest;
await using store = folder === undefined ? openMinio(minio) : new FilesystemObjectStore(folder);
if (work === 'pages') for (let page = 0; page < warmUpPages; page += 1) await readPage(store, owner);
const began = performance.now();
const used = process.cpuUsage();
await works[work](store, owner);
const { user, system } = process.cpuUsage(used);
const cost: WorkCost = {
  cpuMs: (user + system) / 1000,
  seconds: (performance.now() - began) / 1000,
  peakMiB: peakMiB(process.pid),
};
process.stdout.write(JSON.stringify(cost));

async function readPage(store: ObjectStore, owner: Owner | undefined): Promise<void> {
  const { records } = await listNewest(store, { owner: owner && ownerHash(owner), limit: 24 });
  requireClean(24 - records.length);
}

function openMinio(address: WorkRequest['minio']): ObjectStore {
  if (!address) throw new TypeError('no store');
  const { accessKey, secretKey, ...rest } = address;
  return s3ObjectStore({ ...rest, accessKey: new Secret(accessKey), secretKey: new Secret(secretKey) });
}

function requireClean(faults: number): void {
  if (faults > 0) throw new Error(`${faults} faults in a store without any`);
}
