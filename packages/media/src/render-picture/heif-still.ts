import { boxContents, childBoxes } from '../input/iso-boxes.ts';
import type { ItemProperty } from '../photo-size/heif-item-boxes.ts';
import { HeifItems } from '../photo-size/heif-items.ts';
import type { Size } from '../size.ts';

/** A part of a picture, in pixels. */
export interface Area extends Size {
  readonly left: number;
  readonly top: number;
}

const stillBrands: Readonly<Record<string, string>> = {
  avis: 'avif',
  hevc: 'heic',
  hevx: 'heix',
  hevm: 'heim',
  hevs: 'heis',
  msf1: 'mif1',
};

/**
 * Changes the brands of a HEIF in place to those of a still picture: decoders reject sequences by their brand, even those
 * with a primary picture.
 */
export function rebrandAsStill(file: Buffer): Buffer {
  const [brands = Buffer.alloc(0)] = boxContents(file, 'ftyp');
  for (let at = 0; at + 4 <= brands.length; at += 4) {
    const still = stillBrands[brands.toString('latin1', at, at + 4)];
    if (still) brands.write(still, at, 'latin1');
  }
  return file;
}

/**
 * Removes, in place, what makes the primary item of a HEIF a thumbnail or auxiliary picture of another: libvips shows the
 * first item that is neither, even if that is not the primary one.
 */
export function promotePrimary(file: Buffer): Buffer {
  const [meta] = boxContents(file, 'meta');
  const primary = meta && new HeifItems(meta).primary;
  for (const iref of meta ? boxContents(meta, 'iref', 4) : []) {
    const idBytes = iref[0] === 0 ? 2 : 4;
    for (const { type, offset, content, end } of childBoxes(iref, 4)) {
      const isOfPrimary = end - content >= idBytes && iref.readUIntBE(content, idBytes) === primary;
      if (isOfPrimary && (type === 'thmb' || type === 'auxl')) iref.write('free', offset + 4, 'latin1');
    }
  }
  return file;
}

/**
 * Neutralises the crops (ISO/IEC 14496-12 section 12.1.4, `clap`) of a HEIF's primary picture in place. Returns the area of
 * the displayed picture that they leave, or undefined if there are none. libheif 1.23 allows a decoder hardly more pixels
 * than the cropped picture has.
 */
export function removeCrop(file: Buffer): Area | undefined {
  const [meta] = boxContents(file, 'meta');
  const items = meta && new HeifItems(meta);
  if (items?.primary === undefined) return undefined;
  return items.propertiesOf(items.primary).reduce(applyProperty, { canvas: { width: 0, height: 0 } }).area;
}

/** A picture without its crops, and the area that they leave. */
interface Displayed {
  readonly canvas: Size;
  readonly area?: Area | undefined;
}

function applyProperty({ canvas, area }: Displayed, { type, content }: ItemProperty): Displayed {
  switch (type) {
    case 'ispe':
      if (content.length < 12) return { canvas, area };
      return { canvas: { width: content.readUInt32BE(4), height: content.readUInt32BE(8) }, area };
    case 'clap':
      if (content.length < 32) return { canvas, area };
      return { canvas, area: neutraliseCrop(content, area ?? { left: 0, top: 0, ...canvas }, canvas) };
    case 'irot':
      return rotate({ canvas, area }, (content[0] ?? 0) & 3);
    case 'imir':
      return { canvas, area: area && mirror(area, canvas, (content[0] ?? 0) & 1) };
    default:
      return { canvas, area };
  }
}

// Width, height and the distance of the two centres, each a numerator and a denominator.
function neutraliseCrop(clap: Buffer, from: Area, canvas: Size): Area {
  const [width = 0, height = 0] = [0, 8].map((at) => Math.round(clap.readUInt32BE(at) / clap.readUInt32BE(at + 4)));
  const [right = 0, down = 0] = [16, 24].map((at) => clap.readInt32BE(at) / clap.readUInt32BE(at + 4));
  [canvas.width, 1, canvas.height, 1, 0, 1, 0, 1].forEach((number, n) => {
    clap.writeUInt32BE(number, n * 4);
  });
  const left = from.left + Math.floor(right + (from.width - width) / 2);
  const top = from.top + Math.floor(down + (from.height - height) / 2);
  return { left, top, width, height };
}

// Anticlockwise, by quarter turns.
function rotate({ canvas, area }: Displayed, quarters: number): Displayed {
  if (quarters === 0) return { canvas, area };
  const rotated = area && { left: area.top, top: canvas.width - area.left - area.width, ...swapSides(area) };
  return rotate({ canvas: swapSides(canvas), area: rotated }, quarters - 1);
}

// As in libheif, axis 0 swaps top and bottom, axis 1 left and right.
function mirror(area: Area, canvas: Size, axis: number): Area {
  return axis === 0
    ? { ...area, top: canvas.height - area.top - area.height }
    : { ...area, left: canvas.width - area.left - area.width };
}

function swapSides({ width, height }: Size): Size {
  return { width: height, height: width };
}
