import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { videoRecipe } from '@echodrop/media/rendition-recipes';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { renditionKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { s3ObjectStore } from '@echodrop/object-store/s3/s3-object-store';
import { Secret } from '@echodrop/service/secret';
import { findMinio } from '@echodrop/testkit/servers/minio-source';
import { startMinio } from '@echodrop/testkit/servers/start-minio';
import { sandbox } from '@echodrop/testkit/start-stack';
import { forgetPeak, peakMiB, residentMiB } from '../process-usage.ts';
import { type Bench, startRoots } from '../scenario.ts';
import type { System } from '../systems.ts';
import { providerAddress, uploadHeaders } from '../upload-request.ts';

const viewers = 2000;
const viewerAddresses = ['192.0.2.66', '192.0.2.67'];
const bytesAtOnce = 2048;
const pauseMs = 16_000;
const crowdSeconds = 45;
const lists = 64;
const captions = 100;
const pages = 300;
const statusLine = 'HTTP/1.1 200';
const MiB = 1024 * 1024;

interface Stored extends AsyncDisposable {
  readonly kind: 'folder' | 'MinIO';
  readonly store: ObjectStore;
  /** The settings of services for this store. */
  readonly settings: Record<string, string>;
}

/** Measures how much 2,000 viewers who hardly read, and 64 unread lists of long captions, make site and gateway hold, and what a page takes beside them. */
export async function measureSlowReaders(bench: Bench): Promise<void> {
  const services = ['gateway', 'auth-verifier', 'site'] as const;
  for (const start of [startFolder, ...((await findMinio()) ? [startMinioStore] : [])]) {
    await using stored = await start(bench);
    const video = await publishAll(stored.store);
    const settings = { ...stored.settings, TRUSTED_PROXIES: '127.0.0.1' };
    await using systems = new AsyncDisposableStack();
    for (const system of await startRoots(bench, systems, { services, settings })) {
      await measureViewers(bench, system, stored.kind, video);
      await measureLists(bench, system, stored.kind);
    }
  }
}

async function startFolder({ shared }: Bench): Promise<Stored> {
  const folder = await mkdtempDisposable(join(shared.folder, 'slow-readers-'));
  const settings = { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: folder.path };
  return {
    kind: 'folder',
    store: new FilesystemObjectStore(folder.path),
    settings,
    [Symbol.asyncDispose]: () => folder.remove(),
  };
}

async function startMinioStore(): Promise<Stored> {
  const minio = await startMinio();
  const { endpoint, region, bucket, settings } = minio;
  const keys = { accessKey: new Secret(minio.accessKey), secretKey: new Secret(minio.secretKey) };
  const store = s3ObjectStore({ endpoint, region, bucket, ...keys });
  const dispose = async () => {
    await store[Symbol.asyncDispose]();
    await minio[Symbol.asyncDispose]();
  };
  return { kind: 'MinIO', store, settings, [Symbol.asyncDispose]: dispose };
}

/** Publishes long captions, and a video. @returns the id of the video */
async function publishAll(store: ObjectStore): Promise<string> {
  await store.ready();
  const owner = { provider: providerAddress, subject: `${sandbox.userId}` };
  for (let n = 0; n < captions; n += 1) await publishSample(store, { ...owner, text: '&'.repeat(64 * 1024) });
  const { id, mediaKey } = await publishSample(store, { type: 'mp4', subject: 'another' });
  await store.put(renditionKey(mediaKey, videoRecipe), Readable.from([Buffer.alloc(32 * MiB)]));
  return id;
}

async function measureViewers({ figures }: Bench, system: System, variant: string, video: string): Promise<void> {
  const { sitePort = 0, name } = system;
  const pid = system.processes['site']?.[0] ?? 0;
  const label = { system: name, variant, unit: '' };
  await timePages(sitePort);
  const alone = await timePages(sitePort);
  const start = residentMiB(pid);
  forgetPeak(pid);
  await using crowd = await openCrowd(sitePort, viewers, (n) => {
    const address = viewerAddresses[n % viewerAddresses.length] ?? '';
    return `GET /${video}/video.mp4 HTTP/1.1\r\nHost: site\r\nX-Forwarded-For: ${address}\r\n\r\n`;
  });
  const beside = await timePages(sitePort);
  await sleep(crowdSeconds * 1000);
  figures.add('page beside 2,000 slow viewers / alone', label, beside / alone);
  figures.add('slow viewers connected at the end', label, crowd.connected());
  if (crowd.served() < viewers) figures.fault(`slow viewers, ${variant}`, [`${crowd.served()} of ${viewers} got 200`]);
  figures.add('memory of the site for 2,000 slow viewers', { ...label, unit: 'MiB' }, peakMiB(pid) - start);
}

async function measureLists({ figures }: Bench, system: System, variant: string): Promise<void> {
  const [port = 0] = system.ports;
  const pid = system.processes['gateway']?.[0] ?? 0;
  const { 'X-Auth-Service-Provider': provider, 'X-Verify-Credentials-Authorization': proof } = uploadHeaders(
    'echodrop',
    0,
  );
  const headers = `X-Auth-Service-Provider: ${provider}\r\nX-Verify-Credentials-Authorization: ${proof}\r\n`;
  const request = `GET /2/media.json?count=100 HTTP/1.1\r\nHost: gateway\r\n${headers}\r\n`;
  {
    await using _one = await openCrowd(port, 1, () => request);
    await sleep(1000);
  }
  const start = residentMiB(pid);
  forgetPeak(pid);
  await using crowd = await openCrowd(port, lists, () => request);
  await sleep(10_000);
  const label = { system: system.name, variant, unit: '' };
  figures.add('unread lists with status 200', label, crowd.served());
  if (crowd.served() === 0) figures.fault(`unread lists, ${variant}`, ['none got 200']);
  figures.add('memory of the gateway for 64 unread lists', { ...label, unit: 'MiB' }, peakMiB(pid) - start);
}

/** Opens connections that send a request each, and take 2 KiB every 16 s. */
async function openCrowd(port: number, size: number, requestOf: (n: number) => string) {
  const readers: { readonly socket: Socket; head: string }[] = [];
  const read = (bytes: number) => {
    for (const reader of readers) reader.head += reader.socket.read(bytes) ?? '';
  };
  const reading = setInterval(() => read(bytesAtOnce), pauseMs);
  for (let opened = 0; opened < size; opened += 1) {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1').pause();
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(requestOf(opened));
    // Node buffers up to 64 KiB of a paused socket, but only after a read.
    socket.read(0);
    readers.push({ socket, head: '' });
  }
  return {
    connected: () => readers.filter(({ socket }) => !socket.closed).length,
    /** The number of readers whose response has status 200. */
    served: () => {
      read(statusLine.length);
      return readers.filter(({ head }) => head.startsWith(statusLine)).length;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(reading);
      for (const { socket } of readers) socket.destroy();
    },
  };
}

/** The median time of pages of another reader, in milliseconds. */
async function timePages(port: number): Promise<number> {
  const times = [];
  for (let n = 0; n < pages; n += 1) {
    const began = performance.now();
    const [response] = await once(get({ port, path: '/', headers: { 'X-Forwarded-For': '192.0.2.1' } }), 'response');
    await buffer(response);
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
