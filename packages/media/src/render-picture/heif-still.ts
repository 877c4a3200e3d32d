import { boxContents, childBoxes } from '../input/iso-boxes.ts';
import { readItems } from '../photo-size/heif-items.ts';
import {
  type Area,
  applyTransformation,
  codedSize,
  cropBytes,
  type Transformed,
} from '../photo-size/heif-transformations.ts';

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
  const primary = meta && readItems(meta).primary;
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
  const items = meta && readItems(meta);
  const properties = items?.primary === undefined ? [] : items.propertiesOf(items.primary);
  let picture: Transformed = { canvas: codedSize(properties) ?? { width: 0, height: 0 } };
  for (const property of properties) {
    const { canvas } = picture;
    picture = applyTransformation(picture, property);
    if (property.type === 'clap' && property.content.length >= cropBytes) {
      // Width, height and the distance of the two centres, each a numerator and a denominator.
      [canvas.width, 1, canvas.height, 1, 0, 1, 0, 1].forEach((number, n) => {
        property.content.writeUInt32BE(number, n * 4);
      });
    }
  }
  return picture.area;
}
