import type { OutputInfo } from 'sharp';
import type { PictureRecipe } from '../recipes.ts';
import { fitWithin, roundSize, type Size } from '../size.ts';
import { guardedSharp } from './guarded-sharp.ts';
import { middleOf } from './middle.ts';
import { crops, longestSides } from './picture-sizes.ts';

/** A picture without coding: upright, sRGB, 8 bits a channel. */
export interface Pixels {
  readonly data: Buffer;
  readonly info: OutputInfo;
}

/** A picture in all sizes that recipes ask for, each made once, from the next larger one. */
export class PixelSizes {
  readonly #decoded: Pixels;
  readonly #whole: Size;
  readonly #made = new Map<string, Promise<Pixels>>();

  /** `decoded` has at least the size that `decodedSize` gives for `whole`. */
  constructor(decoded: Pixels, whole: Size) {
    this.#decoded = decoded;
    this.#whole = whole;
  }

  /** Rejects where libvips cannot make that size. */
  of(size: PictureRecipe['size']): Promise<Pixels> {
    if (size === 'whole') return Promise.resolve(this.#decoded);
    return 'crop' in size
      ? this.#once(`crop ${size.crop}`, () => this.#cropped(size.crop))
      : this.#fitWithin(size.longest);
  }

  #fitWithin(longest: number): Promise<Pixels> {
    return this.#once(`longest ${longest}`, async () => {
      const larger = longestSides.findLast((side) => side > longest);
      const from = larger === undefined ? this.#decoded : await this.#fitWithin(larger);
      const { width, height } = roundSize(fitWithin(this.#whole, { longest, shortest: longest }));
      if (from.info.width === width && from.info.height === height) return from;
      return pixelsOf(drawn(from).resize(width, height, { fit: 'fill' }));
    });
  }

  // Attention looks for what is bright, colourful or skin: of a tall photo of a person the middle is the belt. A smaller
  // crop is the same one.
  async #cropped(side: number): Promise<Pixels> {
    const larger = crops.findLast((each) => each > side);
    if (larger !== undefined) return pixelsOf(drawn(await this.of({ crop: larger })).resize(side, side));
    const from = await this.#smallestFilling(side);
    const square = { fit: 'cover', position: 'attention' } as const;
    return pixelsOf(drawn(from).extract(middleOf(from.info)).resize(side, side, square));
  }

  async #smallestFilling(side: number): Promise<Pixels> {
    for (const longest of longestSides.toReversed()) {
      const { width, height } = fitWithin(this.#whole, { longest, shortest: longest });
      if (Math.min(width, height) >= side) return this.#fitWithin(longest);
    }
    return this.#decoded;
  }

  #once(name: string, make: () => Promise<Pixels>): Promise<Pixels> {
    const made = this.#made.get(name) ?? make();
    this.#made.set(name, made);
    return made;
  }
}

/** Pixels as sharp takes them in. */
export function drawn({ data, info }: Pixels) {
  return guardedSharp()(data, { raw: info, limitInputPixels: false });
}

/** What a pipeline of sharp ends in, without coding. */
export async function pixelsOf(picture: ReturnType<typeof drawn>): Promise<Pixels> {
  return await picture.raw().toBuffer({ resolveWithObject: true });
}
