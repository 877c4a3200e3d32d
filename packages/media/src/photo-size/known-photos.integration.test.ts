import { CountedSource } from '@echodrop/testkit/counted-source';
import { processesStarted } from '@echodrop/testkit/processes-started';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { Probe } from '../outcomes.ts';
import { probed } from '../probed.fixture.ts';
import { knownPhotos, turnedPhotos } from './known-photos.fixture.ts';

const MiB = 1024 * 1024;

// libheif ignores the EXIF of a HEIC, and libpng what follows the pixels; libnsgif ignores
// screens of some sizes, and lets every frame enlarge one; sharp reads no BMP and no sequence.
const unlikeSharp =
  /^BMP|^GIF with a small frame|^GIF.* as a monitor|^GIF, animated, its second frame beyond|^HEIC .*turned by its EXIF alone|^(AVIF|HEIC) sequence|^PNG with EXIF behind pixels/;

test.each(knownPhotos)('%s: %s, %i x %i', async (name, type, width, height, make) => {
  const bytes = await make();
  const source = new CountedSource(bytes);
  expect(await seen(source)).toEqual({ outcome: 'media', kind: 'photo', type, width, height });
  expect(source.bytesRead).toBeLessThanOrEqual(8 * MiB);
  if (!unlikeSharp.test(name)) expect(await sizeBySharp(bytes)).toEqual({ width, height });
});

test.each(turnedPhotos)('%s: %s, %i x %i', async (_name, type, width, height, make) => {
  expect(await seen(new CountedSource(await make()))).toMatchObject({ type, width, height });
});

/** The result of the probe, which must not start a process. */
async function seen(source: CountedSource): Promise<Probe> {
  const found: Probe[] = [];
  const processes = await processesStarted(async () => found.push(await probed(source)));
  expect(processes).toEqual([]);
  return found[0] as Probe;
}

async function sizeBySharp(bytes: Buffer): Promise<{ width: number; height: number }> {
  const { autoOrient } = await sharp(bytes, { limitInputPixels: false }).metadata();
  return { width: autoOrient.width, height: autoOrient.height };
}
