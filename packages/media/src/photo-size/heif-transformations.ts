import type { Size } from '../size.ts';
import type { ItemProperty } from './heif-item-boxes.ts';

/** The size of an item as displayed: with its transformations. Undefined if it declares none. */
export function displayedSize(properties: readonly ItemProperty[]): Size | undefined {
  const coded = codedSize(properties);
  return coded && properties.reduce(applyTransformation, coded);
}

/** The size that an item declares, before its transformations. */
export function codedSize(properties: readonly ItemProperty[]): Size | undefined {
  const extent = properties.find(({ type, content }) => type === 'ispe' && content.length >= 12)?.content;
  return extent && { width: extent.readUInt32BE(4), height: extent.readUInt32BE(8) };
}

/** Whether each crop is inside the picture as it is when the crop applies. */
export function areCropsInside(properties: readonly ItemProperty[]): boolean {
  let canvas = codedSize(properties);
  for (const property of properties) {
    if (property.type === 'clap' && !(canvas && isCropInside(property.content, canvas))) return false;
    canvas = canvas && applyTransformation(canvas, property);
  }
  return true;
}

// ISO/IEC 14496-12 section 12.1.4: fractions of the width, the height, and the distances between the centres.
function isCropInside(clap: Buffer, { width, height }: Size): boolean {
  if (clap.length < 32) return false;
  const [w, h, x, y] = [0, 8, 16, 24].map((at) => clap.readInt32BE(at) / clap.readInt32BE(at + 4)) as [
    number,
    number,
    number,
    number,
  ];
  const isPositive = [4, 12, 20, 28].every((at) => clap.readInt32BE(at) > 0);
  return isPositive && isCentredInside(w, width, x) && isCentredInside(h, height, y);
}

// Decoders round fractions.
function isCentredInside(length: number, of: number, offset: number): boolean {
  const rounding = Number.isInteger(length) && Number.isInteger(2 * offset) ? 0 : 1;
  return length >= 1 && Math.abs(offset) <= (of - length) / 2 + rounding;
}

// ISO/IEC 23008-12 section 6.5: crops and quarter turns. Mirroring does not change the size.
function applyTransformation(size: Size, { type, content }: ItemProperty): Size {
  if (type === 'clap' && content.length >= 16) {
    const [widthN, widthD, heightN, heightD] = [0, 4, 8, 12].map((at) => content.readUInt32BE(at));
    return { width: roundQuotient(widthN, widthD), height: roundQuotient(heightN, heightD) };
  }
  const quarterTurns = type === 'irot' ? (content[0] ?? 0) & 3 : 0;
  return quarterTurns % 2 === 1 ? { width: size.height, height: size.width } : size;
}

function roundQuotient(numerator = 0, denominator = 0): number {
  return denominator === 0 ? 0 : Math.round(numerator / denominator);
}
