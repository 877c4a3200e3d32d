import { inspectFile } from '../input/inspect-file.ts';
import { readExtraSamples } from '../photo-size/tiff-size.ts';
import { toRgbProfile } from './colour-profile.ts';
import { decodeStill } from './guarded-sharp.ts';
import { repack } from './repack.ts';

const alphas = [1, 2];

/**
 * A TIFF of printers and editors has masks and spot colours after its colours. libvips takes the first for alpha, so such a file becomes
 * one with its colours and alpha alone. Others are returned as they are.
 */
export async function keepColours(path: string, maxPixels: number): Promise<string | Buffer> {
  const extra = await inspectFile(path, readExtraSamples);
  const alpha = extra.findIndex((kind) => alphas.includes(kind));
  if (extra.length === 0 || (extra.length === 1 && alpha === 0)) return path;
  const { space, icc } = await decodeStill(path, maxPixels).metadata();
  // Only inks need their profile to become RGB.
  const isInks = space === 'cmyk';
  const profile = isInks || !icc ? undefined : (toRgbProfile(icc) ?? icc);
  const kept = [0, 1, 2, ...(alpha < 0 ? [] : [3 + alpha])];
  return repack(path, { profile, kept, ignoresProfile: !isInks }, maxPixels);
}
