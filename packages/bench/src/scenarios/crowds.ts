import { multipartForm } from '@echodrop/testkit/multipart-form';
import { RawClient } from '@echodrop/testkit/raw-client';
import { sandbox } from '@echodrop/testkit/start-stack';
import { type Bench, rotate, runBatch, startRoots, warmUp } from '../scenario.ts';
import type { System } from '../systems.ts';
import { measureExpensiveVideos } from './expensive-videos.ts';
import { measureHeaderParameters } from './header-parameters.ts';
import { measureSlowReaders } from './slow-readers.ts';

const crowdSize = 1000;
const crowdAddress = '192.0.2.66';
const load = { uploads: 1000, connections: 8 };
const maxRounds = 5;
const MiB = 1024 * 1024;

/** Measures how slow connections, readers who hardly read, many expensive videos of one owner, and hostile headers affect others. */
export async function measureCrowds(bench: Bench): Promise<void> {
  await measureHeaderParameters(bench);
  await measureSlowConnections(bench);
  await measureSlowReaders(bench);
  await measureExpensiveVideos(bench);
}

async function measureSlowConnections(bench: Bench): Promise<void> {
  await using systems = new AsyncDisposableStack();
  for (const system of await startRoots(bench, systems, { settings: { TRUSTED_PROXIES: '127.0.0.1' } })) {
    await warmUp(bench, system, bench.samples['200 KB']);
    for (let round = 0; round < Math.min(bench.options.rounds, maxRounds); round += 1) {
      const p99 = new Map<string, number>();
      for (const crowd of rotate(['without', 'with'], round)) p99.set(crowd, await uploadBeside(bench, system, crowd));
      const ratio = (p99.get('with') ?? 0) / (p99.get('without') ?? 0);
      bench.figures.add('p99 with slow connections / without', { system: system.name, unit: '' }, ratio);
    }
  }
}

/** The p99 of honest uploads, which come from another address, in milliseconds. */
async function uploadBeside(bench: Bench, system: System, crowd: string): Promise<number> {
  const { figures, samples } = bench;
  const labels = { system: system.name, unit: '' };
  await using open = await openCrowd(system, crowd === 'with' ? crowdSize : 0);
  const { result } = await runBatch(bench, system, samples['200 KB'], load);
  const p99 = percentile(result.latenciesMs, 0.99);
  figures.add(`p99 ${crowd} ${crowdSize} slow connections`, { ...labels, unit: 'ms' }, p99);
  const failed = result.responses.filter(({ status }) => status !== 200).length;
  figures.add(`failed uploads ${crowd} slow connections`, labels, failed);
  if (crowd === 'with') figures.add('slow connections open at the end', labels, open.stillOpen());
  return p99;
}

/** Opens anonymous uploads of version 1 from one address; each sends a byte a second from then on. */
async function openCrowd({ ports }: System, size: number): Promise<AsyncDisposable & { stillOpen: () => number }> {
  const { contentType, body } = multipartForm([
    { name: 'key', content: sandbox.apiKey },
    { name: 'media', filename: 'a.jpg', content: Buffer.alloc(MiB) },
  ]);
  const headers = { 'X-Forwarded-For': crowdAddress, 'Content-Type': contentType };
  const clients: RawClient[] = [];
  for (let opened = 0; opened < size; opened += 100) {
    const hundred = Array.from({ length: 100 }, () => RawClient.connect(`http://127.0.0.1:${ports[0]}`));
    for (const client of await Promise.all(hundred)) {
      clients.push(client);
      client.head('/1/upload.json', headers, body.length);
      client.write(body.subarray(0, 300));
    }
  }
  // The others are refused, or have a response at their end.
  const open = () => clients.filter(({ closed, received }) => !closed && received === '');
  const dripping = setInterval(() => {
    for (const client of open()) client.write('\0');
  }, 1000);
  return {
    stillOpen: () => open().length,
    async [Symbol.asyncDispose]() {
      clearInterval(dripping);
      for (const client of clients) client.destroy();
    },
  };
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
