import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCanary } from '@echodrop/testkit/hostile/hostile-canary';
import { hostilePhotos } from '@echodrop/testkit/hostile/hostile-photos';
import { writeHostile } from '@echodrop/testkit/hostile/hostile-sample';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const MiB = 2 ** 20;

test('probes hostile photos with little memory and time', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'probe-memory-'));
  await using canary = await startCanary();
  const [media, scratch] = [join(folder.path, 'media'), join(folder.path, 'scratch')];
  await Promise.all([media, scratch].map((path) => mkdir(path)));
  await writeHostile(media, hostilePhotos, canary);

  const program = join(import.meta.dirname, '../sandbox/probe-files.fixture.ts');
  const { stdout } = await execa(process.execPath, [program, media, scratch], { timeout: 60_000 });

  const { probes, grownBy, longestMs } = JSON.parse(stdout);
  expect(probes).toBe(hostilePhotos.length);
  expect(grownBy).toBeLessThan(100 * MiB);
  expect(longestMs).toBeLessThan(2000);
}, 90_000);
