import { contentsOf } from '../input/iso-boxes.ts';
import { HeifItems, type ItemProperty } from '../photo-size/heif-items.ts';
import type { Size } from '../size.ts';

/** A part of a picture, in whole pixels. */
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
 * A HEIF whose brands, changed in place, say that it is a still picture: decoders turn a sequence away by its brand,
 * also where it has a primary picture.
 */
export function brandedAsStill(file: Buffer): Buffer {
  const [brands = Buffer.alloc(0)] = contentsOf(file, 'ftyp');
  for (let at = 0; at + 4 <= brands.length; at += 4) {
    const still = stillBrands[brands.toString('latin1', at, at + 4)];
    if (still) brands.write(still, at, 'latin1');
  }
  return file;
}

/**
 * Takes the crops (ISO/IEC 14496-12 section 12.1.4, `clap`) from a HEIF's primary picture in place, and says what part
 * of what is displayed then they would have left; undefined where there are none. libheif 1.23 allows a decoder no more
 * pixels than the cropped picture has, and a few.
 */
export function takeCrop(file: Buffer): Area | undefined {
  const [meta] = contentsOf(file, 'meta');
  const items = meta && new HeifItems(meta);
  if (items?.primary === undefined) return undefined;
  return items.propertiesOf(items.primary).reduce(displayed, { canvas: { width: 0, height: 0 } }).area;
}

/** The whole picture as it is without crops, and what part of it they leave. */
interface Displayed {
  readonly canvas: Size;
  readonly area?: Area | undefined;
}

function displayed({ canvas, area }: Displayed, { type, content }: ItemProperty): Displayed {
  switch (type) {
    case 'ispe':
      if (content.length < 12) return { canvas, area };
      return { canvas: { width: content.readUInt32BE(4), height: content.readUInt32BE(8) }, area };
    case 'clap':
      if (content.length < 32) return { canvas, area };
      return { canvas, area: takenFrom(content, area ?? { left: 0, top: 0, ...canvas }, canvas) };
    case 'irot':
      return turned({ canvas, area }, (content[0] ?? 0) & 3);
    case 'imir':
      return { canvas, area: area && mirrored(area, canvas, (content[0] ?? 0) & 1) };
    default:
      return { canvas, area };
  }
}

// Width, height and the distance of the two middles, each a numerator and a denominator; then made to crop nothing.
function takenFrom(clap: Buffer, from: Area, canvas: Size): Area {
  const [width = 0, height = 0] = [0, 8].map((at) => Math.round(clap.readUInt32BE(at) / clap.readUInt32BE(at + 4)));
  const [right = 0, down = 0] = [16, 24].map((at) => clap.readInt32BE(at) / clap.readUInt32BE(at + 4));
  [canvas.width, 1, canvas.height, 1, 0, 1, 0, 1].forEach((number, n) => {
    clap.writeUInt32BE(number, n * 4);
  });
  const left = from.left + Math.floor(right + (from.width - width) / 2);
  const top = from.top + Math.floor(down + (from.height - height) / 2);
  return { left, top, width, height };
}

// Anticlockwise, by quarters.
function turned({ canvas, area }: Displayed, quarters: number): Displayed {
  if (quarters === 0) return { canvas, area };
  const next = area && { left: area.top, top: canvas.width - area.left - area.width, ...swapped(area) };
  return turned({ canvas: swapped(canvas), area: next }, quarters - 1);
}

// As libheif does: axis 0 exchanges top and bottom, axis 1 left and right.
function mirrored(area: Area, canvas: Size, axis: number): Area {
  return axis === 0
    ? { ...area, top: canvas.height - area.top - area.height }
    : { ...area, left: canvas.width - area.left - area.width };
}

function swapped({ width, height }: Size): Size {
  return { width: height, height: width };
}
