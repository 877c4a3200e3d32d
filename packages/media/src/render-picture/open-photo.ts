import { readFile } from 'node:fs/promises';
import { inspectFile } from '../input/inspect-file.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import type { HeifType } from '../photo-size/heif-obstacle.ts';
import { type DisplayedHeif, readHeif } from '../photo-size/heif-size.ts';
import { pngOrientation } from '../photo-size/png-size.ts';
import { readExtraSamples } from '../photo-size/tiff-size.ts';
import { coloursOfCodes, createProfile, toRgbProfile } from './colour-profile.ts';
import { decodeHeic } from './decode-heic.ts';
import { decodeStill } from './guarded-sharp.ts';
import { promotePrimary, rebrandAsStill } from './heif-still.ts';
import type { PictureSource } from './picture-job.ts';
import { keepPixelChunks } from './png-pixels.ts';
import { repack } from './repack.ts';

/** What sharp reads of a photo: a path or bytes, with the orientation of the photo, and with a colour profile unless it is sRGB. */
export interface OpenedPhoto {
  readonly input: string | Buffer;
}

/**
 * Makes a photo readable for sharp: with a profile for colours that the file states otherwise, and straight alpha.
 * @throws if the file cannot be read or decoded
 */
export async function openPhoto(source: PictureSource, maxPixels: number): Promise<OpenedPhoto | UnsupportedReason> {
  const { path, type, codes } = source;
  switch (type) {
    case 'png': {
      const orientation = await inspectFile(path, pngOrientation);
      return { input: await withRgbProfile(keepPixelChunks(await readFile(path), { codes, orientation }), maxPixels) };
    }
    case 'tiff':
      return { input: await withRgbProfile(await keepColours(path, maxPixels), maxPixels) };
    case 'avif':
    case 'heic':
      return openHeif(path, type, maxPixels);
    default:
      return { input: path };
  }
}

async function openHeif(path: string, type: HeifType, maxPixels: number): Promise<OpenedPhoto | UnsupportedReason> {
  const displayed = await inspectFile(path, (reader) => readHeif(reader, type));
  if (typeof displayed === 'string') return displayed;
  const { isPremultiplied, orientation, obstacle } = displayed;
  const profile = profileOf(displayed);
  if (type === 'heic') {
    // An earlier release accepted such photos.
    if (obstacle) return obstacle;
    const input = await decodeHeic(path, { profile, isPremultiplied, orientation }, maxPixels);
    return typeof input === 'string' ? input : { input };
  }
  const input = promotePrimary(rebrandAsStill(await readFile(path)));
  const isAsSharpReads = !isPremultiplied && profile === displayed.profile;
  return { input: isAsSharpReads ? input : await repack(input, { profile, isPremultiplied }, maxPixels) };
}

function profileOf({ profile, codes }: DisplayedHeif): Buffer | undefined {
  // Grey pixels become RGB.
  if (profile) return toRgbProfile(profile) ?? profile;
  return codes && createProfile(coloursOfCodes(codes), 'rgb');
}

// sharp applies a profile to grey of 8 bits, but not of 16.
async function withRgbProfile(input: string | Buffer, maxPixels: number): Promise<string | Buffer> {
  const { space, icc } = await decodeStill(input, maxPixels).metadata();
  const profile = space === 'grey16' && icc ? toRgbProfile(icc) : undefined;
  return profile ? repack(input, { profile }, maxPixels) : input;
}

const alphas = [1, 2];

// A TIFF of printers and editors has masks and spot colours after its colours. libvips takes the first for alpha, so such a file becomes
// one with its colours and alpha alone. Others are returned as they are.
async function keepColours(path: string, maxPixels: number): Promise<string | Buffer> {
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
