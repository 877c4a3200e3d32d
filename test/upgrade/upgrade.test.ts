import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mediaObjectKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import { removedSettings } from '@echodrop/service/removed-settings';
import { adminOf } from '@echodrop/testkit/admin-of';
import type { Stack } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serviceConfigs, serviceNames } from '../../deploy/local/services.ts';
import packageManifest from '../../package.json' with { type: 'json' };
import {
  type Baseline,
  blockedProvider,
  folderOf,
  joinServices,
  readBaseline,
  releases,
  send,
  startProvider,
  userHeaders,
} from './baseline.ts';
import { writeEntries } from './redis-entries.ts';

const known = await releases();
// Its names of claims are hashes without a key.
const releaseWithOtherClaims = '0.1.0';

test('this release has a baseline (node test/upgrade/record-baseline.ts)', () => {
  expect(known).toContain(packageManifest.version);
});

describe.each(known)('after an upgrade from %s', (release) => {
  const parts = new AsyncDisposableStack();
  let baseline: Baseline;
  let stack: Stack;

  beforeAll(async () => {
    baseline = await readBaseline(release);
    const base = parts.use(await startProvider());
    await cp(join(folderOf(release), 'store'), join(base.folder, 'store'), { recursive: true });
    await writeEntries(base.redis, baseline.redis);
    const services = ['auth-verifier', 'gateway', 'site', 'probe-worker', 'rendition-worker'] as const;
    // Deadlines of jobs are sealed, and a worker trusts only near ones.
    const behindMs = Date.now() - Date.parse(baseline.recordedAt);
    stack = parts.use(await joinServices(base, services, behindMs));
  });
  afterAll(() => parts.disposeAsync());

  const statusOf = async (path: string) => (await fetch(`${stack.site}/${path}`)).status;
  const mediaOf = (mediaKey: string) => readFile(join(folderOf(release), 'store/objects', mediaObjectKey(mediaKey)));

  // Before any view, which would request renditions.
  test('waiting rendition jobs are done', async () => {
    const { mediaKey = '' } = baseline.uploads.at(-1) ?? {};
    const folder = join(stack.folder, 'store/objects', renditionsPrefixOf(mediaKey));
    const isLarge = (name: string) => /^large-\d+\.jpg$/.test(name);
    await waitUntil('the picture of its page', async () => (await readdir(folder)).some(isLarge));
    expect(await stack.metrics('rendition-worker')).not.toMatch(/^echodrop_forged_entries_total\{.*\} [1-9]/m);
  });

  test('pages and pictures open, and a deleted upload stays deleted', async () => {
    for (const { record, message } of baseline.uploads) {
      const page = await fetch(`${stack.site}/${record.id}`);
      expect(await page.text()).toContain(message.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;'));
      expect(await statusOf(`${record.id}/large.jpg`)).toBe(200);
    }
    expect(await statusOf(baseline.deleted)).toBe(410);
  });

  test('the user lists the records, newest first', async () => {
    const response = await fetch(`${stack.gateway}/2/media.json`, { headers: userHeaders() });
    const records = baseline.uploads.map(({ record }) => record).reverse();
    expect(await response.json()).toMatchObject({ media: records });
  });

  test.skipIf(release === releaseWithOtherClaims)('a repeat of an upload gets its record', async () => {
    const before = await stack.stored('records');
    for (const { mediaKey, record, ...form } of baseline.uploads) {
      const { status, text } = await send(stack, form, await mediaOf(mediaKey));
      expect([status, JSON.parse(text)]).toMatchObject([200, record]);
    }
    expect(await stack.stored('records')).toEqual(before);
  });

  test('a blocked user stays blocked', async () => {
    const [{ mediaKey }] = baseline.uploads as [Baseline['uploads'][number]];
    const form = { message: 'Refused', alt: '', key: 'refused' };
    expect(await send(stack, form, await mediaOf(mediaKey), blockedProvider)).toMatchObject({ status: 403 });
  });

  // A failure rejects, with the damage.
  test('the store passes verification', async () => {
    await adminOf(stack, 'verify-store', '--moved', '--bytes');
  });

  test.each(serviceNames)('%s accepts every setting, and reads it or warns that it was removed', (service) => {
    const settings = baseline.settings[service] ?? {};
    const warned = Object.keys(removedSettings).filter((name) => removedSettings[name]?.readers.includes(service));
    const known = [...Object.keys(serviceConfigs[service].settings), ...warned];
    expect(Object.keys(settings).filter((name) => !known.includes(name))).toEqual([]);
    expect(() => serviceConfigs[service].readConfig(settings)).not.toThrow();
  });

  // Last: it adds uploads.
  test.runIf(release === releaseWithOtherClaims)('a repeat of an upload is a second upload', async () => {
    for (const { mediaKey, record, ...form } of baseline.uploads) {
      const { status, text } = await send(stack, form, await mediaOf(mediaKey));
      expect({ status, isFirst: JSON.parse(text).id === record.id }).toEqual({ status: 200, isFirst: false });
    }
  });
});
