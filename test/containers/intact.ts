import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sandbox } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect } from 'vitest';
import type { ComposeSystem } from './compose-system.ts';
import { type Acknowledged, sha256 } from './load.ts';

const concurrency = 8;

/** Expects record, exact media, page and picture of each upload. */
export async function expectIntact(system: ComposeSystem, acknowledged: readonly Acknowledged[]): Promise<void> {
  const folder = await exportAll(system);
  const files = new Set(await readdir(folder));
  for (const { id, sha256: sent } of acknowledged) {
    expect(files).toContain(`${id}.json`);
    const media = files.has(`${id}.png`) ? `${id}.png` : `${id}.jpg`;
    expect({ id, sha256: sha256(await readFile(join(folder, media))) }).toEqual({ id, sha256: sent });
  }
  await expectAllShown(system, acknowledged);
}

/** Expects the page of each upload, at the latest after `pageMs`, and its picture. */
export async function expectAllShown(
  system: Pick<ComposeSystem, 'site'>,
  acknowledged: readonly Acknowledged[],
  pageMs = 0,
): Promise<void> {
  // Workers make pictures in this order: each has its time after those before it.
  const remaining = acknowledged.values();
  const checks = Array.from({ length: concurrency }, async () => {
    for (const upload of remaining) await expectShown(system, upload, pageMs);
  });
  await Promise.all(checks);
}

async function expectShown(
  { site }: Pick<ComposeSystem, 'site'>,
  { id, message }: Acknowledged,
  pageMs: number,
): Promise<void> {
  await waitUntil(
    `the page of ${id}`,
    async () => {
      const page = await fetch(`${site}/${id}`);
      return page.status === 200 && (await page.text()).includes(message);
    },
    pageMs,
  );
  await waitUntil(`the picture of ${id}`, async () => {
    const picture = await fetch(`${site}/${id}/large.jpg`);
    await picture.body?.cancel();
    return picture.status === 200;
  });
}

// Exports with the admin command.
async function exportAll({ compose, folder, provider }: ComposeSystem): Promise<string> {
  const target = join(folder, 'export');
  await mkdir(target);
  const options = ['--user', `${process.getuid?.()}:${process.getgid?.()}`, '--volume', `${target}:/export`];
  await compose('run', '--rm', '-T', ...options, 'admin', 'export', provider, `${sandbox.userId}`, '/export/all');
  return join(target, 'all');
}
