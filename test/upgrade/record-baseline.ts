// Records what this release writes and accepts, in a folder with its version as name: node test/upgrade/record-baseline.ts
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { recordKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import { decodeStoredRecord } from '@echodrop/record';
import { adminOf } from '@echodrop/testkit/admin-of';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { waitUntil } from '@echodrop/testkit/wait-until';
import {
  type Baseline,
  blockedProvider,
  folderOf,
  joinServices,
  send,
  startProvider,
  subject,
  type UploadForm,
  userHeaders,
} from './baseline.ts';
import { exampleSettings } from './example-settings.ts';
import { readEntries } from './redis-entries.ts';

const size = { width: 64, height: 48 };
const forms: readonly (UploadForm & { media: Buffer })[] = [
  { message: 'At the sea', alt: 'Two boats', key: 'photo', media: await samplePhoto('jpg', size) },
  { message: 'Waves & <wind>', alt: '', key: 'video', media: await sampleVideo('mp4', size) },
  { message: 'D\u00fcnen \u{1F6A4}', alt: '', key: 'without renditions', media: await samplePhoto('png', size) },
];

const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));
await using base = await startProvider();
const { redis } = base;
await using stack = await joinServices(base, ['auth-verifier', 'gateway', 'site', 'probe-worker']);
const objects = join(base.folder, 'store/objects');

const deleted = await publish({ message: 'Deleted', alt: '', key: 'deleted' }, await samplePhoto('jpg', size));
const deletion = { method: 'DELETE', headers: userHeaders() };
const { status } = await fetch(`${stack.gateway}/2/media/${deleted.record.id}`, deletion);
if (status !== 204) throw new Error(`deletion failed: ${status}`);
const uploads: Baseline['uploads'][number][] = [];
for (const { media, ...form } of forms) uploads.push({ ...form, ...(await publish(form, media)) });
await adminOf(base, 'block-user', blockedProvider, subject);
const entries = await readEntries(redis);

await using _worker = await joinServices(base, ['rendition-worker']);
// Redis has no empty lists.
for (const state of ['prioritized', 'active']) {
  const queues = () => redis.command('keys', `{echodrop}:rendition-*:${state}`);
  await waitUntil('the end of all jobs', async () => (await queues()) === '');
}
const { mediaKey = '' } = uploads.at(-1) ?? {};
await rm(join(objects, renditionsPrefixOf(mediaKey)), { recursive: true });

const baseline: Baseline = {
  recordedAt: new Date().toISOString(),
  settings: exampleSettings(),
  uploads,
  deleted: deleted.record.id,
  redis: entries,
};
const folder = folderOf(version);
await rm(folder, { recursive: true, force: true });
await cp(objects, join(folder, 'store/objects'), { recursive: true });
await writeFile(join(folder, 'baseline.json'), `${JSON.stringify(baseline, undefined, 2)}\n`);
process.stdout.write(`recorded ${folder}\n`);

/** Uploads, and waits for the rendition job. */
async function publish(form: UploadForm, media: Buffer) {
  const response = await send(stack, form, media);
  if (response.status !== 200) throw new Error(`upload failed: ${response.text}`);
  const record: { id: string } = JSON.parse(response.text);
  const { mediaKey } = decodeStoredRecord(await readFile(join(objects, recordKey(record.id))), record.id);
  await waitUntil(
    `the job of ${form.key}`,
    async () => (await redis.command('keys', `*rendition*-${mediaKey}`)) !== '',
  );
  return { mediaKey, record };
}
