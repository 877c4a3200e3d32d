import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HostileObject } from '@echodrop/testkit/hostile/hostile-store';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import type { Stack } from '@echodrop/testkit/start-stack';
import { execa } from 'execa';
import { statusOf } from '../../../deploy/store/minio-root.fixture.ts';

/** Calls `act` with each of `items`, eight at a time. */
export async function inParallel<T>(items: Iterable<T>, act: (item: T) => Promise<unknown>): Promise<void> {
  const remaining = [...items].values();
  const work = async () => {
    for (const item of remaining) await act(item);
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

/** Writes the objects as files, and what only a folder can have: links that leave it, loops and pipes. */
export async function plantInFolder({ folder }: Stack, objects: readonly HostileObject[]): Promise<void> {
  const root = join(folder, 'store/objects');
  for (const { key, body } of objects) {
    await mkdir(dirname(join(root, key)), { recursive: true });
    // A name may be a folder already.
    await writeFile(join(root, key), body).catch(() => {});
  }
  for (const kind of ['records', 'media', 'by-time', 'blocks/users', 'resumable']) {
    await execa('ln', ['-s', '/etc/hostname', join(root, kind, 'aaaaaaaaaa.json')]);
    await execa('ln', ['-s', '.', join(root, kind, 'loop')]);
    await execa('mkfifo', [join(root, kind, 'bbbbbbbbbb.json')]);
  }
}

export async function plantInMinio(minio: RunningMinio, objects: readonly HostileObject[]): Promise<void> {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  await inParallel(objects, async ({ key, body }) => {
    const path = `/${minio.bucket}/${key.split('/').map(encode).join('/')}`;
    const status = await statusOf(minio, minio, 'PUT', path, { body });
    if (status !== 200) throw new Error(`${key}: ${status}`);
  });
}
