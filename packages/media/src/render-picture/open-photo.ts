import { readFile } from 'node:fs/promises';
import { inspectFile } from '../input/inspect-file.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import { type DisplayedHeif, readExifOrientation, readHeif } from '../photo-size/heif-size.ts';
import { pngOrientation } from '../photo-size/png-size.ts';
import { coloursOfCodes, createProfile, toRgbProfile } from './colour-profile.ts';
import { decodeHeic } from './decode-heic.ts';
import { decodeStill } from './guarded-sharp.ts';
import { promotePrimary, rebrandAsStill } from './heif-still.ts';
import type { PictureSource } from './picture-job.ts';
import { keepPixelChunks } from './png-pixels.ts';
import { repack } from './repack.ts';
import { keepColours } from './tiff-colours.ts';

interface OpenedPhoto {
  /** What sharp reads, with a colour profile unless it is sRGB. */
  readonly input: string | Buffer;
  /** The EXIF orientation, 1 to 8, if sharp does not find it in `input`. */
  readonly orientation?: number | undefined;
}

/**
 * Makes a photo readable for sharp: with a profile for colours that the file states otherwise, and straight alpha.
 * @throws if the file cannot be read or decoded
 */
export async function openPhoto(source: PictureSource, maxPixels: number): Promise<OpenedPhoto | UnsupportedReason> {
  const { path, type } = source;
  switch (type) {
    case 'png': {
      const input = keepPixelChunks(await readFile(path), source.codes);
      return { input: await withRgbProfile(input, maxPixels), orientation: await inspectFile(path, pngOrientation) };
    }
    case 'tiff':
      return { input: await withRgbProfile(await keepColours(path, maxPixels), maxPixels) };
    case 'avif':
      return openAvif(path, maxPixels);
    case 'heic':
      return openHeic(path, maxPixels);
    default:
      return { input: path };
  }
}

async function openAvif(path: string, maxPixels: number): Promise<OpenedPhoto> {
  const displayed = await inspectFile(path, (reader) => readHeif(reader, 'avif'));
  const input = promotePrimary(rebrandAsStill(await readFile(path)));
  if (typeof displayed === 'string') return { input };
  const { isPremultiplied } = displayed;
  const profile = profileOf(displayed);
  const isAsSharpReads = !isPremultiplied && profile === displayed.profile;
  return { input: isAsSharpReads ? input : await repack(input, { profile, isPremultiplied }, maxPixels) };
}

async function openHeic(path: string, maxPixels: number): Promise<OpenedPhoto | UnsupportedReason> {
  const [displayed, orientation] = await inspectFile(path, async (reader) => {
    const displayed = await readHeif(reader, 'heic');
    return [
      displayed,
      typeof displayed === 'string' ? undefined : await readExifOrientation(displayed, reader),
    ] as const;
  });
  if (typeof displayed === 'string') return displayed;
  const { isPremultiplied, obstacle } = displayed;
  if (obstacle) return obstacle;
  const input = await decodeHeic(path, { profile: profileOf(displayed), isPremultiplied }, maxPixels);
  return typeof input === 'string' ? input : { input, orientation };
}

function profileOf({ profile, codes }: DisplayedHeif): Buffer | undefined {
  // Pixels of grey become RGB.
  if (profile) return toRgbProfile(profile) ?? profile;
  return codes && createProfile(coloursOfCodes(codes), 'rgb');
}

// sharp applies a profile to grey of 8 bits, but not of 16.
async function withRgbProfile(input: string | Buffer, maxPixels: number): Promise<string | Buffer> {
  const { space, icc } = await decodeStill(input, maxPixels).metadata();
  const profile = space === 'grey16' && icc ? toRgbProfile(icc) : undefined;
  return profile ? repack(input, { profile }, maxPixels) : input;
}
