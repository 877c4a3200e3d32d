import { contentsOf, innerBoxes } from '../input/iso-boxes.ts';

/** A property of an item: a box without its header. */
export interface ItemProperty {
  readonly type: string;
  readonly content: Buffer;
}

/** Where an item's bytes lie: in the file, or in the `idat` box of its directory. */
export interface ItemPlace {
  readonly within: 'file' | 'idat';
  readonly offset: number;
  readonly length: number;
}

// Boxes with a version and flags carry four bytes more before their content.
const fullBox = 4;

/** The directory of a HEIF's items, a `meta` box without its header (ISO/IEC 14496-12 section 8.11). */
export class HeifItems {
  readonly #meta: Buffer;

  constructor(meta: Buffer) {
    this.#meta = meta;
  }

  /** The item that is shown, undefined where none is named. */
  get primary(): number | undefined {
    const [pitm] = contentsOf(this.#meta, 'pitm', fullBox);
    return pitm && new Numbers(pitm, fullBox).next(pitm[0] === 0 ? 2 : 4);
  }

  /** What bytes the directory itself holds. */
  get data(): Buffer {
    return contentsOf(this.#meta, 'idat', fullBox)[0] ?? Buffer.alloc(0);
  }

  /** An item's properties, in the order in which they apply (ISO/IEC 23008-12 section 9.3). */
  propertiesOf(item: number): ItemProperty[] {
    return contentsOf(this.#meta, 'iprp', fullBox).flatMap((iprp) => {
      const boxes = contentsOf(iprp, 'ipco').flatMap((ipco) =>
        [...innerBoxes(ipco, 0)].map(({ type, content, end }) => ({ type, content: ipco.subarray(content, end) })),
      );
      const indexes = contentsOf(iprp, 'ipma').flatMap((ipma) => propertyIndexes(ipma, item));
      return indexes.flatMap((index) => boxes[index - 1] ?? []);
    });
  }

  /** Where the EXIF lies that describes an item. */
  exifOf(item: number): ItemPlace | undefined {
    const describing = new Set(contentsOf(this.#meta, 'iref', fullBox).flatMap((iref) => describers(iref, item)));
    const exif = contentsOf(this.#meta, 'iinf', fullBox).flatMap(exifItems);
    const found = exif.find((id) => describing.has(id));
    return found === undefined ? undefined : this.#placeOf(found);
  }

  #placeOf(item: number): ItemPlace | undefined {
    const [iloc] = contentsOf(this.#meta, 'iloc', fullBox);
    return iloc && placeIn(iloc, item);
  }
}

// For each item its id and a list of indexes into ipco, counted from 1; the highest bit of each says "essential".
function propertyIndexes(ipma: Buffer, item: number): number[] {
  const numbers = new Numbers(ipma, fullBox);
  const idBytes = ipma[0] === 0 ? 2 : 4;
  const indexBytes = ((ipma[3] ?? 0) & 1) === 1 ? 2 : 1;
  for (let items = numbers.next(4); items > 0 && !numbers.ended; items--) {
    const id = numbers.next(idBytes);
    const indexes = Array.from({ length: numbers.next(1) }, () => numbers.next(indexBytes));
    if (id === item) return indexes.map((index) => index & (indexBytes === 2 ? 0x7fff : 0x7f));
  }
  return [];
}

// References "content describes": from an item, to a list of items.
function describers(iref: Buffer, item: number): number[] {
  const idBytes = iref[0] === 0 ? 2 : 4;
  return contentsOf(iref, 'cdsc', fullBox).flatMap((reference) => {
    const numbers = new Numbers(reference, 0);
    const from = numbers.next(idBytes);
    for (let to = numbers.next(2); to > 0 && !numbers.ended; to--) if (numbers.next(idBytes) === item) return [from];
    return [];
  });
}

// iinf: a count, then a box for each item: its id, two bytes about protection, four letters for its kind.
function exifItems(iinf: Buffer): number[] {
  const entries = contentsOf(iinf, 'infe', fullBox + (iinf[0] === 0 ? 2 : 4));
  return entries.flatMap((infe) => {
    const idBytes = infe[0] === 3 ? 4 : 2;
    const kindAt = fullBox + idBytes + 2;
    return infe.toString('latin1', kindAt, kindAt + 4) === 'Exif' ? [new Numbers(infe, fullBox).next(idBytes)] : [];
  });
}

// ISO/IEC 14496-12 section 8.11.3; of several extents the first one.
function placeIn(iloc: Buffer, item: number): ItemPlace | undefined {
  const numbers = new Numbers(iloc, fullBox);
  const version = iloc[0] ?? 0;
  const idBytes = version < 2 ? 2 : 4;
  const [sizes, moreSizes] = [numbers.next(1), numbers.next(1)];
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 4, sizes & 15, moreSizes >> 4];
  const indexBytes = version === 0 ? 0 : moreSizes & 15;
  for (let items = numbers.next(idBytes); items > 0 && !numbers.ended; items--) {
    const id = numbers.next(idBytes);
    const method = version === 0 ? 0 : numbers.next(2) & 15;
    numbers.skip(2);
    const base = numbers.next(baseBytes);
    const extents = numbers.next(2);
    if (id === item && extents > 0 && method < 2) {
      numbers.skip(indexBytes);
      const offset = base + numbers.next(offsetBytes);
      return { within: method === 0 ? 'file' : 'idat', offset, length: numbers.next(lengthBytes) };
    }
    numbers.skip(extents * (indexBytes + offsetBytes + lengthBytes));
  }
  return undefined;
}

/** Big-endian numbers that lie one after another; zeros where the bytes are at their end. */
class Numbers {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  get ended(): boolean {
    return this.#at >= this.#bytes.length;
  }

  skip(length: number): void {
    this.#at += length;
  }

  next(length: number): number {
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.skip(length);
    return bytes.length < length ? 0 : bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  }
}
