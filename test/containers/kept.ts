import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sandbox } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect } from 'vitest';
import type { ComposeSystem } from './compose-system.ts';
import { type Acknowledged, sha256 } from './load.ts';

const atOnce = 8;

/** Expects of each upload that its record is in the store, its media byte for byte, and that its page and its picture are shown. */
export async function expectKept(system: ComposeSystem, acknowledged: readonly Acknowledged[]): Promise<void> {
  const folder = await exported(system);
  const files = new Set(await readdir(folder));
  const records = acknowledged.filter(({ id }) => !files.has(`${id}.json`));
  expect(records).toEqual([]);
  for (const { id, sha256: sent } of acknowledged) {
    expect({ id, sha256: sha256(await readFile(join(folder, `${id}.jpg`))) }).toEqual({ id, sha256: sent });
  }
  const left = [...acknowledged];
  const looking = Array.from({ length: atOnce }, async () => {
    for (let upload = left.pop(); upload; upload = left.pop()) await expectShown(system, upload);
  });
  await Promise.all(looking);
}

async function expectShown({ site }: ComposeSystem, { id, message }: Acknowledged): Promise<void> {
  const page = await fetch(`${site}/${id}`);
  expect({ id, status: page.status, text: await page.text() }).toMatchObject({
    id,
    status: 200,
    text: expect.stringContaining(message),
  });
  await waitUntil(`the picture of ${id}`, 60_000, async () => {
    const picture = await fetch(`${site}/${id}/large.jpg`);
    await picture.body?.cancel();
    return picture.status === 200;
  });
}

// By the command that operators have, so that what it writes can be read here.
async function exported({ compose, folder, provider }: ComposeSystem): Promise<string> {
  const target = join(folder, 'export');
  await mkdir(target);
  const as = ['--user', `${process.getuid?.()}:${process.getgid?.()}`, '--volume', `${target}:/export`];
  await compose('run', '--rm', '-T', ...as, 'admin', 'export', provider, `${sandbox.userId}`, '/export/all');
  return join(target, 'all');
}
