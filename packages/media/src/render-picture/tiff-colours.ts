import { inspectFile } from '../input/inspect-file.ts';
import { readExtraSamples } from '../photo-size/tiff-size.ts';
import { decodeStill } from './guarded-sharp.ts';
import { toPixels } from './pixel-sizes.ts';
import { createRawTiff } from './raw-tiff.ts';
import { toSRgb } from './to-srgb.ts';

const [associatedAlpha, unassociatedAlpha] = [1, 2];

/**
 * A TIFF of printers and editors has masks and spot colours after its colours. libvips takes the first for alpha, so such a file becomes
 * one in sRGB with its colours and alpha alone. Others are returned as they are.
 */
export async function keepColours(path: string, maxPixels: number): Promise<string | Buffer> {
  const extra = await inspectFile(path, readExtraSamples);
  const alpha = extra.findIndex((kind) => kind === associatedAlpha || kind === unassociatedAlpha);
  if (extra.length === 0 || (extra.length === 1 && alpha === 0)) return path;
  const picture = decodeStill(path, maxPixels).autoOrient();
  const { data, info } = await toPixels(toSRgb(picture, await picture.metadata()));
  const colours = info.channels - extra.length;
  const kept = [0, 1, 2].map((channel) => Math.min(channel, colours - 1));
  if (alpha >= 0) kept.push(colours + alpha);
  const { width, height } = info;
  const isPremultiplied = extra[alpha] === associatedAlpha;
  const { tiff, pixels } = createRawTiff({
    width,
    height,
    channels: kept.length === 4 ? 4 : 3,
    bits: 8,
    isPremultiplied,
  });
  for (let from = 0, to = 0; to < pixels.length; from += info.channels)
    for (const channel of kept) pixels[to++] = data[from + channel] ?? 0;
  return tiff;
}
