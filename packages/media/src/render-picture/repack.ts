import { decodeStill } from './guarded-sharp.ts';
import { createRawTiff } from './raw-tiff.ts';

interface Repacking {
  /** An ICC profile for RGB. */
  readonly profile?: Buffer | undefined;
  readonly isPremultiplied?: boolean;
  /** Whether samples stay as they are in the file; else its profile converts them to sRGB. */
  readonly ignoresProfile?: boolean;
  /** The channels to keep of red, green, blue and what follows; all unless given. */
  readonly kept?: readonly number[];
}

/** Decodes a photo to a TIFF of RGB with another profile, other channels, or premultiplied alpha. */
export async function repack(
  input: string | Buffer,
  { kept, ignoresProfile = true, ...colours }: Repacking,
  maxPixels: number,
): Promise<Buffer> {
  const picture = decodeStill(input, maxPixels, { ignoreIcc: ignoresProfile }).autoOrient();
  const isDeep = ignoresProfile && (await picture.metadata()).depth === 'ushort';
  const raw = picture.toColourspace(isDeep ? 'rgb16' : 'srgb').raw({ depth: isDeep ? 'ushort' : 'uchar' });
  const { data, info } = await raw.toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const channels = (kept?.length ?? info.channels) === 4 ? 4 : 3;
  const { tiff, pixels } = createRawTiff({ width, height, channels, bits: isDeep ? 16 : 8, ...colours });
  if (kept) copyChannels(data, info.channels, pixels, kept, isDeep ? 2 : 1);
  else data.copy(pixels);
  return tiff;
}

function copyChannels(from: Buffer, channels: number, to: Buffer, kept: readonly number[], bytes: number): void {
  let at = 0;
  for (let pixel = 0; at < to.length; pixel += channels * bytes)
    for (const channel of kept)
      for (let n = 0; n < bytes; n += 1, at += 1) to[at] = from[pixel + channel * bytes + n] ?? 0;
}
