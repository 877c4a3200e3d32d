import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { anotherUser } from '@echodrop/testkit/another-user';
import { multipartForm } from '@echodrop/testkit/multipart-form';
import { made, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { medianOf } from '../figures.ts';
import { HttpConnection } from '../http-connection.ts';
import { childrenOf } from '../process-cpu.ts';
import { type Bench, runBatch, startRoots, turned, warmUp } from '../scenario.ts';
import type { System } from '../systems.ts';

const crowdSize = 1000;
const crowdAddress = '192.0.2.66';
const asked = { uploads: 1000, connections: 8 };
const mostRounds = 5;
const expensiveVideos = 100;
const tries = 5;
const readyMs = 30_000;
const deferredMs = 120_000;
const mostWaiting = 0.9 * expensiveVideos;
// Below the limit of the slow lane, and far beyond it.
const videoCrowds = [
  { lane: 'medium', tensOfSeconds: 8 },
  { lane: 'slow', tensOfSeconds: 120 },
] as const;
const MiB = 1024 * 1024;

/** What others notice of one address that opens many slow connections, of one owner with many expensive videos, and of hostile headers. */
export async function measureCrowds(bench: Bench): Promise<void> {
  await measureHeaderParameters(bench);
  await measureSlowConnections(bench);
  for (const crowd of videoCrowds) await measureExpensiveVideos(bench, crowd);
}

async function measureSlowConnections(bench: Bench): Promise<void> {
  await using systems = new AsyncDisposableStack();
  for (const system of await startRoots(bench, systems, { settings: { TRUSTED_PROXIES: '127.0.0.1' } })) {
    await warmUp(bench, system, bench.samples['200 KB']);
    for (let round = 0; round < Math.min(bench.options.rounds, mostRounds); round += 1) {
      const p99 = new Map<string, number>();
      for (const crowd of turned(['without', 'with'], round)) p99.set(crowd, await uploadBeside(bench, system, crowd));
      const ratio = (p99.get('with') ?? 0) / (p99.get('without') ?? 0);
      bench.figures.add('p99 with slow connections / without', { system: system.name, unit: '' }, ratio);
    }
  }
}

/** The p99 of honest uploads, which come from another address, in milliseconds. */
async function uploadBeside(bench: Bench, system: System, crowd: string): Promise<number> {
  const { figures, samples } = bench;
  const of = { system: system.name, unit: '' };
  await using open = await openCrowd(system, crowd === 'with' ? crowdSize : 0);
  const { result } = await runBatch(bench, system, samples['200 KB'], asked);
  const p99 = percentile(result.latenciesMs, 0.99);
  figures.add(`p99 ${crowd} ${crowdSize} slow connections`, { ...of, unit: 'ms' }, p99);
  const failed = result.answers.filter(({ status }) => status !== 200).length;
  figures.add(`failed uploads ${crowd} slow connections`, of, failed);
  if (crowd === 'with') figures.add('slow connections open at the end', of, open.stillOpen());
  return p99;
}

/** Opens anonymous uploads of version 1 from one address; each sends a byte a second from then on. */
async function openCrowd({ ports }: System, size: number): Promise<AsyncDisposable & { stillOpen: () => number }> {
  const { contentType, body } = multipartForm([
    { name: 'key', content: sandbox.apiKey },
    { name: 'media', filename: 'a.jpg', content: Buffer.alloc(MiB) },
  ]);
  const head = [
    'POST /1/upload.json HTTP/1.1',
    'Host: 127.0.0.1',
    `X-Forwarded-For: ${crowdAddress}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
  ];
  const begin = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body.subarray(0, 300)]);
  const open = new Set<HttpConnection>();
  for (let opened = 0; opened < size; opened += 100) {
    const hundred = Array.from({ length: 100 }, () => HttpConnection.open(ports[0] ?? 0));
    for (const connection of await Promise.all(hundred)) {
      open.add(connection);
      await connection.write([begin]);
      // It is refused, or answered at its end.
      connection.answer().then(
        () => open.delete(connection),
        () => open.delete(connection),
      );
    }
  }
  const all = [...open];
  const dripping = setInterval(() => {
    for (const connection of open) connection.write([Buffer.from('\0')]).catch(() => {});
  }, 1000);
  return {
    stillOpen: () => open.size,
    async [Symbol.asyncDispose]() {
      clearInterval(dripping);
      for (const connection of all) connection[Symbol.dispose]();
    },
  };
}

// The machine's other load changes from minute to minute: both ways take turns, and the slower lane stands still in one of them.
async function measureExpensiveVideos(
  { figures, samples }: Bench,
  { lane, tensOfSeconds }: (typeof videoCrowds)[number],
): Promise<void> {
  await using quiet = await startStack();
  await using crowded = await startStack();
  const photo = await readFile(samples['3 MB'].path);
  const short = await sampleVideo('avi', { width: 640, height: 360, seconds: 6 });
  const expensive = await expensiveVideo(crowded.folder, tensOfSeconds);
  for (let n = 0; n < expensiveVideos; n += 1) {
    const { status, text } = await upload(crowded, { media: expensive });
    if (status !== 200) figures.fault('an expensive video', [`${status} ${text}`]);
  }
  await waitUntil(
    `most of them to wait in the ${lane} lane`,
    deferredMs,
    async () => (await waiting(crowded, lane)) >= mostWaiting,
  );
  const system = 'echodrop';
  for (const [what, media, rendition] of [
    ['photo', photo, 'large-'],
    ['short video', short, 'film-'],
  ] as const) {
    const of = `${what}, ${lane} lane`;
    const [alone, beside]: [number[], number[]] = [[], []];
    // The first try is of what is compiled and read from the disk then.
    for (let n = 0; n <= tries; n += 1) {
      await signalTool(crowded, 'SIGSTOP');
      alone.push(await readyAfter(quiet, media, rendition));
      await signalTool(crowded, 'SIGCONT');
      beside.push(await readyAfter(crowded, media, rendition));
    }
    const [usual, ms] = [medianOf(alone.slice(1)), medianOf(beside.slice(1))];
    figures.add('ready with nothing waiting', { system, of, unit: 'ms' }, usual);
    figures.add(`ready beside ${expensiveVideos} expensive videos`, { system, of, unit: 'ms' }, ms);
    figures.add('ready beside expensive videos / alone', { system, of, unit: '' }, ms / usual);
  }
  figures.add(
    'expensive videos still waiting at the end',
    { system, of: `${lane} lane`, unit: '' },
    await waiting(crowded, lane),
  );
}

/** Signals the tool that the slower lane runs. */
async function signalTool({ services }: Stack, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  const worker = services['rendition-worker'].pid ?? 0;
  const running = () => childrenOf(worker);
  await waitUntil('a tool of the slower lane', readyMs, async () => running().length > 0);
  for (const pid of running()) process.kill(pid, signal);
}

/** From the answer to an upload of another owner to its rendition in the store. */
async function readyAfter(stack: Stack, media: Buffer, rendition: string): Promise<number> {
  const before = new Set(await stack.stored('records'));
  const { status, text } = await upload(stack, { media, headers: anotherUser(stack) });
  const begin = performance.now();
  if (status !== 200) throw new Error(`${status} ${text}`);
  const record = (await stack.stored('records')).find((each) => !before.has(each)) ?? '';
  const { media_key: key } = JSON.parse(await readFile(join(stack.folder, 'store/objects/records', record), 'utf8'));
  const isReady = async () => {
    const names = await readdir(join(stack.folder, 'store/objects/renditions', key)).catch(() => []);
    return names.some((name) => name.startsWith(rendition));
  };
  await waitUntil(`${rendition} of ${record}`, readyMs, isReady);
  return performance.now() - begin;
}

/** A small file with 10 bits a sample: 2.2 s of processor time for each ten seconds. */
async function expensiveVideo(folder: string, tensOfSeconds: number): Promise<Buffer> {
  const picture = ['-f', 'lavfi', '-i', 'smptebars=size=854x480:rate=25:duration=10'];
  const coded = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p10le'];
  const ten = join(folder, 'ten-seconds.mp4');
  await writeFile(ten, await made([...picture, ...coded, '-f', 'mp4']));
  return made([
    '-stream_loop',
    `${tensOfSeconds - 1}`,
    '-i',
    ten,
    '-c',
    'copy',
    '-movflags',
    '+faststart',
    '-f',
    'mp4',
  ]);
}

/** Jobs that wait in the lane. */
async function waiting({ redis }: Stack, lane: string): Promise<number> {
  return Number(await redis.command('ZCARD', `{echodrop}:rendition-${lane}:prioritized`));
}

const shapes = ['a', ';', ';a', ';a=', ';a="', ';a="\\', ';a=b', ';a = ', '; \t', '"', '\\"'];
const longestRead = 16 * 1024;

/** The worst of several shapes: as one value, and as values of the length that is still read. */
async function measureHeaderParameters({ figures, options }: Bench): Promise<void> {
  for (const [n, root] of options.roots.entries()) {
    const { parametersOf } = await import(resolve(root, 'services/gateway/src/receive/header-parameters.ts'));
    const system = n === 0 ? 'echodrop' : `echodrop-${n + 1}`;
    for (const [of, bytes] of [
      ['one value', MiB],
      ['values of 16 KiB', longestRead],
    ] as const) {
      const times = shapes.map((shape) => {
        const value = `x${shape.repeat(bytes)}`.slice(0, bytes);
        const begin = performance.now();
        for (let parsed = 0; parsed < MiB; parsed += bytes) parametersOf(value);
        return performance.now() - begin;
      });
      figures.add('worst time for 1 MiB of header parameters', { system, of, unit: 'ms' }, Math.max(...times));
    }
  }
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
