import type { Size } from '../size.ts';
import type { ItemProperty } from './heif-items.ts';

/** A part of a picture, in pixels. */
export interface Area extends Size {
  readonly left: number;
  readonly top: number;
}

/** A picture without its crops, and the area that they leave. */
export interface Transformed {
  readonly canvas: Size;
  readonly area?: Area | undefined;
}

/** The size of an item as displayed: with its transformations. Undefined if it declares none. */
export function displayedSize(properties: readonly ItemProperty[]): Size | undefined {
  const coded = codedSize(properties);
  return coded && sizeOf(properties.reduce<Transformed>(applyTransformation, { canvas: coded }));
}

/** The size that an item declares, before its transformations. */
export function codedSize(properties: readonly ItemProperty[]): Size | undefined {
  const extent = properties.find(({ type, content }) => type === 'ispe' && content.length >= 12)?.content;
  return extent && { width: extent.readUInt32BE(4), height: extent.readUInt32BE(8) };
}

function sizeOf({ canvas, area = { left: 0, top: 0, ...canvas } }: Transformed): Size {
  return { width: area.width, height: area.height };
}

/** Whether each crop is inside the picture as it is when the crop applies. */
export function areCropsInside(properties: readonly ItemProperty[]): boolean {
  const coded = codedSize(properties);
  let picture: Transformed | undefined = coded && { canvas: coded };
  for (const property of properties) {
    if (property.type === 'clap' && !(picture && isCropInside(property.content, sizeOf(picture)))) return false;
    picture = picture && applyTransformation(picture, property);
  }
  return true;
}

// ISO/IEC 14496-12 section 12.1.4: fractions of the width, the height, and the distances between the centres.
function isCropInside(clap: Buffer, { width, height }: Size): boolean {
  if (clap.length < cropBytes) return false;
  const [w = 0, h = 0, x = 0, y = 0] = [0, 8, 16, 24].map((at) => clap.readInt32BE(at) / clap.readInt32BE(at + 4));
  const isPositive = [4, 12, 20, 28].every((at) => clap.readInt32BE(at) > 0);
  return isPositive && isCentredInside(w, width, x) && isCentredInside(h, height, y);
}

// Decoders round fractions.
function isCentredInside(length: number, of: number, offset: number): boolean {
  const rounding = Number.isInteger(length) && Number.isInteger(2 * offset) ? 0 : 1;
  return length >= 1 && Math.abs(offset) <= (of - length) / 2 + rounding;
}

/** The length of the content of a crop. */
export const cropBytes = 32;

/** Crops, quarter turns and mirroring (ISO/IEC 23008-12 section 6.5). */
export function applyTransformation({ canvas, area }: Transformed, { type, content }: ItemProperty): Transformed {
  switch (type) {
    case 'clap':
      if (content.length < cropBytes) return { canvas, area };
      return { canvas, area: crop(area ?? { left: 0, top: 0, ...canvas }, content) };
    case 'irot':
      return rotate({ canvas, area }, (content[0] ?? 0) & 3);
    case 'imir':
      return { canvas, area: area && mirror(area, canvas, (content[0] ?? 0) & 1) };
    default:
      return { canvas, area };
  }
}

function crop(from: Area, clap: Buffer): Area {
  const [width = 0, height = 0] = [0, 8].map((at) => quotient(clap.readUInt32BE(at), clap.readUInt32BE(at + 4)));
  const [right = 0, down = 0] = [16, 24].map((at) => clap.readInt32BE(at) / clap.readUInt32BE(at + 4));
  const left = from.left + Math.floor(right + (from.width - width) / 2);
  const top = from.top + Math.floor(down + (from.height - height) / 2);
  return { left, top, width, height };
}

function quotient(numerator: number, denominator: number): number {
  return denominator === 0 ? 0 : Math.round(numerator / denominator);
}

// Rotations are anticlockwise, by quarter turns.
function rotate({ canvas, area }: Transformed, quarters: number): Transformed {
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
