import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownerHash } from '@echodrop/archive/owner';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { picturesOf } from '@echodrop/media/rendition-recipes';
import { renditionKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { childrenOf, runMsOf } from '../process-usage.ts';
import { readRepeatedly } from '../read-load.ts';
import { type ReadStore, readStores } from '../read-stores.ts';
import { type ReaderPeers, startReaderPeers } from '../reader-peers.ts';
import { type Bench, rotate, startRoots } from '../scenario.ts';
import { storeCallsOf } from '../service-metrics.ts';
import type { System } from '../systems.ts';
import { measureNewUpload } from './new-upload.ts';

const load = { requests: 3000, connections: 16 };
const warmUp = { requests: 6000, connections: 16 };
const once = { requests: 1, connections: 1 };
const pauseMs = 10_000;
const maxRounds = 5;
const pictureBytes = 18_000;
const ownUploads = 24;

interface Target {
  readonly server: string;
  readonly url: string;
  /** The processes that serve it. */
  readonly pids: readonly number[];
}

/** One kind of address, with the bytes of its response. */
interface Address {
  readonly what: string;
  readonly path: string;
  readonly body: Buffer;
}

/** Measures what pages and pictures cost, beside express.static and nginx with the same bytes, and what 1,000 readers of a new upload cost. */
export async function measureReading(bench: Bench): Promise<void> {
  for (const openStore of readStores) {
    await using stored = await openStore(bench);
    await using systems = new AsyncDisposableStack();
    const services = ['site', 'rendition-worker'] as const;
    const settings = { ...stored.settings, TRUSTED_PROXIES: '127.0.0.1' };
    for (const system of await startRoots(bench, systems, { services, settings })) {
      await measureSystem(bench, system, stored);
      await measureNewUpload(bench, system, stored);
    }
  }
}

async function measureSystem(bench: Bench, system: System, stored: ReadStore): Promise<void> {
  const { options, shared } = bench;
  await using store = stored.open(system);
  const site = `http://127.0.0.1:${system.sitePort}`;
  const addresses = await publishUploads(store, site);
  const files = Object.fromEntries(addresses.map(({ what, body }) => [what, body]));
  await using peers = await startReaderPeers(shared, site, files);
  // Processes that have lived: a load, then a pause.
  for (const address of addresses)
    for (const target of targetsOf(system, peers, address)) await costOf(bench, target, address, warmUp);
  await sleep(pauseMs);
  for (let round = 0; round < Math.min(options.rounds, maxRounds); round += 1)
    for (const address of addresses) await compare(bench, system, peers, address, stored.kind, round);
  await countCalls(bench, system, stored, addresses.slice(0, 2));
}

/** Publishes uploads of one user with all pictures. @returns addresses of one of them: first its page, then the picture of that page */
async function publishUploads(store: ObjectStore, site: string): Promise<Address[]> {
  await store.ready();
  const owner = { provider: 'https://id.example/verify', subject: 'reader' };
  let id = '';
  for (let n = 0; n < ownUploads; n += 1) {
    const published = await publishSample(store, { ...owner, width: 1600, height: 1067, text: 'At the sea' });
    for (const recipe of picturesOf('jpg'))
      await store.put(renditionKey(published.mediaKey, recipe), Readable.from([randomBytes(pictureBytes)]));
    ({ id } = published);
  }
  const paths = {
    page: `/${id}`,
    picture: `/${id}/large.jpg`,
    thumbnail: `/${id}/thumb.jpg`,
    'user page': `/by/${ownerHash(owner)}`,
    'direct link': `/${id}.jpg`,
  };
  const read = async ([what, path]: [string, string]) => {
    const response = await fetch(`${site}${path}`, { headers: { 'Accept-Encoding': 'identity' } });
    return { what: what.replace(' ', '-'), path, body: Buffer.from(await response.arrayBuffer()) };
  };
  return Promise.all(Object.entries(paths).map(read));
}

function targetsOf(system: System, peers: ReaderPeers, { what, path }: Address): Target[] {
  const pids = system.processes['site'] ?? [];
  const { express, nginx, proxy } = peers;
  return [
    { server: 'site', url: `http://127.0.0.1:${system.sitePort}${path}`, pids },
    { server: 'express.static', url: `${express.origin}/${what}`, pids: [express.pid] },
    ...(nginx ? [{ server: 'nginx', url: `${nginx.origin}/files/${what}`, pids: [nginx.pid] }] : []),
    ...(proxy ? [{ server: 'proxy', url: `${proxy.origin}${path}`, pids: [...pids, proxy.pid] }] : []),
  ];
}

async function compare(
  bench: Bench,
  system: System,
  peers: ReaderPeers,
  address: Address,
  kind: ReadStore['kind'],
  round: number,
): Promise<void> {
  const { figures } = bench;
  const labels = { system: system.name, variant: `${address.what.replace('-', ' ')}, ${kind}`, unit: '' };
  const costs: Record<string, number> = {};
  for (const target of rotate(targetsOf(system, peers, address), round)) {
    costs[target.server] = await costOf(bench, target, address, load);
    figures.add(`CPU of 1,000 reads: ${target.server}`, { ...labels, unit: 'ms' }, costs[target.server] ?? 0);
  }
  const { site = 0, 'express.static': express = Number.NaN, nginx, proxy = 0 } = costs;
  figures.add('site / express.static', labels, site / express);
  if (nginx !== undefined) figures.add('hot, through the proxy / nginx', labels, proxy / nginx);
}

/** Counts the calls of the store for a page and its picture, cold and again. */
async function countCalls(
  bench: Bench,
  system: System,
  { kind }: ReadStore,
  addresses: readonly Address[],
): Promise<void> {
  await sleep(pauseMs);
  for (const state of ['cold', 'warm']) {
    const before = await storeCallsOf(system, 'site');
    for (const address of addresses)
      await costOf(
        bench,
        { server: 'site', url: `http://127.0.0.1:${system.sitePort}${address.path}`, pids: [] },
        address,
        once,
      );
    const calls = (await storeCallsOf(system, 'site')) - before;
    const labels = { system: system.name, variant: kind, unit: '' };
    bench.figures.add(`store calls for a page with its picture, ${state}`, labels, calls);
  }
}

/** Milliseconds of processor time per 1,000 reads, in all processes of the target. */
async function costOf(
  { figures }: Bench,
  { url, pids }: Target,
  { body: { length: bytes } }: Address,
  size: typeof load,
): Promise<number> {
  const used = () => runMsOf(pids.flatMap((pid) => [pid, ...childrenOf(pid)]));
  let before = 0;
  const wrong = await readRepeatedly({ url, bytes, ...size }, () => {
    before = used();
  });
  if (wrong > 0) figures.fault(url, [`${wrong} of ${size.requests} responses differ from 200 with ${bytes} bytes`]);
  return ((used() - before) / size.requests) * 1000;
}
