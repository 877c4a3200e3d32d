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
const MiB = 1024 * 1024;

/** Measures how much 2,000 viewers who hardly read, and 64 unread lists of long captions, make site and gateway hold, and what a page takes beside them. */
export async function measureSlowReaders(bench: Bench): Promise<void> {
  await using folder = await mkdtempDisposable(join(bench.shared.folder, 'slow-readers-'));
  const settings = {
    OBJECT_STORE: 'filesystem',
    OBJECT_STORE_DIR: folder.path,
    TRUSTED_PROXIES: '127.0.0.1',
  };
  await using systems = new AsyncDisposableStack();
  const services = ['gateway', 'auth-verifier', 'site'] as const;
  const video = await publishAll(folder.path);
  for (const system of await startRoots(bench, systems, { services, settings })) {
    await measureViewers(bench, system, video);
    await measureLists(bench, system);
  }
}

/** Publishes long captions, and a video. @returns the id of the video */
async function publishAll(folder: string): Promise<string> {
  await using store = new FilesystemObjectStore(folder);
  await store.ready();
  const owner = { provider: providerAddress, subject: `${sandbox.userId}` };
  for (let n = 0; n < captions; n += 1) await publishSample(store, { ...owner, text: '&'.repeat(64 * 1024) });
  const { id, mediaKey } = await publishSample(store, { type: 'mp4', subject: 'another' });
  await store.put(renditionKey(mediaKey, videoRecipe), Readable.from([Buffer.alloc(32 * MiB)]));
  return id;
}

async function measureViewers({ figures }: Bench, system: System, video: string): Promise<void> {
  const { sitePort = 0, name } = system;
  const pid = system.processes['site']?.[0] ?? 0;
  const label = { system: name, unit: '' };
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
  figures.add('memory of the site for 2,000 slow viewers', { ...label, unit: 'MiB' }, peakMiB(pid) - start);
}

async function measureLists({ figures }: Bench, system: System): Promise<void> {
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
  await using _crowd = await openCrowd(port, lists, () => request);
  await sleep(10_000);
  figures.add('memory of the gateway for 64 unread lists', { system: system.name, unit: 'MiB' }, peakMiB(pid) - start);
}

/** Opens connections that send a request each, and take 2 KiB every 16 s. */
async function openCrowd(port: number, size: number, requestOf: (n: number) => string) {
  const sockets: Socket[] = [];
  const reading = setInterval(() => {
    for (const socket of sockets) socket.read(bytesAtOnce);
  }, pauseMs);
  for (let opened = 0; opened < size; opened += 1) {
    const socket = connect(port, '127.0.0.1').pause();
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(requestOf(opened));
    sockets.push(socket);
  }
  return {
    connected: () => sockets.filter(({ closed }) => !closed).length,
    async [Symbol.asyncDispose]() {
      clearInterval(reading);
      for (const socket of sockets) socket.destroy();
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
