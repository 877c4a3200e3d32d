/**
 * What the gateway holds in memory after a 1 GiB upload, beside what it holds after one of 100 MiB, with MinIO as the store:
 *
 *     MINIO_BIN=... node packages/bench/src/upload-memory.ts
 */
import { multipartForm } from '@echodrop/testkit/multipart-form';
import { RawClient } from '@echodrop/testkit/raw-client';
import { sampleFilm } from '@echodrop/testkit/sample-media';
import { startMinio } from '@echodrop/testkit/start-minio';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { echoHeaders } from '@echodrop/testkit/upload';

const MiB = 1024 * 1024;
const sizes = [100 * MiB, 1024 * MiB];

await using minio = await startMinio();
await using stack = await startStack({
  settings: { ...minio.settings, MAX_MEDIA_BYTES: `${2048 * MiB}` },
  services: ['sandbox-provider', 'auth-verifier', 'gateway', 'probe-worker'],
});
const film = await sampleFilm('mp4', { width: 320, height: 240 });
for (const size of sizes) {
  const peak = await peakDuring(uploaded(size));
  process.stdout.write(
    `after ${size / MiB} MiB: ${mib(await residentBytes(stack))} MiB resident, at most ${mib(peak)} MiB meanwhile\n`,
  );
}

// A film that is followed by a `free` box: a legal mp4 of any length.
async function uploaded(size: number): Promise<void> {
  const mark = '\0media\0';
  const { contentType, body } = multipartForm([
    { name: 'key', content: sandbox.apiKey },
    { name: 'message', content: 'large' },
    { name: 'media', filename: 'film.mp4', content: mark },
  ]);
  const at = body.indexOf(mark);
  const box = Buffer.alloc(8);
  box.writeUInt32BE(size - film.length);
  box.write('free', 4);
  await using client = await RawClient.connect(stack.gateway);
  client.head(
    '/2/upload.json',
    { ...echoHeaders(stack), 'Content-Type': contentType },
    body.length - mark.length + size,
  );
  await client.flush(Buffer.concat([body.subarray(0, at), film, box]));
  const zeros = Buffer.alloc(MiB);
  for (let left = size - film.length - box.length; left > 0; left -= MiB)
    await client.flush(zeros.subarray(0, Math.min(left, MiB)));
  await client.flush(body.subarray(at + mark.length));
  const answer = await client.answer();
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
}

async function peakDuring(work: Promise<void>): Promise<number> {
  let over = false;
  let peak = 0;
  const watched = work.finally(() => {
    over = true;
  });
  while (!over) peak = Math.max(peak, await residentBytes(stack));
  await watched;
  return peak;
}

async function residentBytes({ ops }: Stack): Promise<number> {
  const metrics = await (await fetch(`${ops('gateway')}/metrics`)).text();
  return Number(/^process_resident_memory_bytes\{[^}]*\} (\d+)/m.exec(metrics)?.[1]);
}

function mib(bytes: number): string {
  return (bytes / MiB).toFixed(1);
}
