import { boxContents, childBoxes } from '../input/iso-boxes.ts';

/** A property of an item: a box type and its content. */
export interface ItemProperty {
  readonly type: string;
  readonly content: Buffer;
}

/** The location of an item's bytes: in `data`, the content of the `idat` box, or else in the file. */
export interface ItemLocation {
  readonly data?: Buffer;
  readonly offset: number;
  readonly length: number;
}

// The version and flags of a full box.
const fullBoxBytes = 4;

/** The items of a HEIF: the content of its `meta` box (ISO/IEC 14496-12 section 8.11). */
export class HeifItems {
  readonly #meta: Buffer;

  constructor(meta: Buffer) {
    this.#meta = meta;
  }

  /** The id of the displayed item. */
  get primary(): number | undefined {
    const [pitm] = boxContents(this.#meta, 'pitm', fullBoxBytes);
    return pitm && new NumberReader(pitm, fullBoxBytes).next(pitm[0] === 0 ? 2 : 4);
  }

  /** An item's properties, in the order of their application (ISO/IEC 23008-12 section 9.3). */
  propertiesOf(item: number): ItemProperty[] {
    return boxContents(this.#meta, 'iprp', fullBoxBytes).flatMap((iprp) => {
      const boxes = boxContents(iprp, 'ipco').flatMap((ipco) =>
        [...childBoxes(ipco, 0)].map(({ type, content, end }) => ({ type, content: ipco.subarray(content, end) })),
      );
      const indexes = boxContents(iprp, 'ipma').flatMap((ipma) => propertyIndexes(ipma, item));
      return indexes.flatMap((index) => boxes[index - 1] ?? []);
    });
  }

  /** The location of the EXIF of an item. */
  exifOf(item: number): ItemLocation | undefined {
    const describing = new Set(
      boxContents(this.#meta, 'iref', fullBoxBytes).flatMap((iref) => describingItems(iref, item)),
    );
    const exif = boxContents(this.#meta, 'iinf', fullBoxBytes).flatMap(exifItems);
    const found = exif.find((id) => describing.has(id));
    const [iloc] = boxContents(this.#meta, 'iloc', fullBoxBytes);
    if (found === undefined || !iloc) return undefined;
    const [data = Buffer.alloc(0)] = boxContents(this.#meta, 'idat', fullBoxBytes);
    return parseLocation(iloc, found, data);
  }
}

// For each item its id and indexes into `ipco` from 1; the highest bit of each marks it as essential.
function propertyIndexes(ipma: Buffer, item: number): number[] {
  const numbers = new NumberReader(ipma, fullBoxBytes);
  const idBytes = ipma[0] === 0 ? 2 : 4;
  const indexBytes = ((ipma[3] ?? 0) & 1) === 1 ? 2 : 1;
  for (let items = numbers.next(4); items > 0 && !numbers.isAtEnd; items--) {
    const id = numbers.next(idBytes);
    const indexes = Array.from({ length: numbers.next(1) }, () => numbers.next(indexBytes));
    if (id === item) return indexes.map((index) => index & (indexBytes === 2 ? 0x7fff : 0x7f));
  }
  return [];
}

// References of type "content describes", from an item to a list of items.
function describingItems(iref: Buffer, item: number): number[] {
  const idBytes = iref[0] === 0 ? 2 : 4;
  return boxContents(iref, 'cdsc', fullBoxBytes).flatMap((reference) => {
    const numbers = new NumberReader(reference, 0);
    const from = numbers.next(idBytes);
    for (let to = numbers.next(2); to > 0 && !numbers.isAtEnd; to--) if (numbers.next(idBytes) === item) return [from];
    return [];
  });
}

// A count, then a box for each item: its id, two bytes for protection, and four letters for its type.
function exifItems(iinf: Buffer): number[] {
  const entries = boxContents(iinf, 'infe', fullBoxBytes + (iinf[0] === 0 ? 2 : 4));
  return entries.flatMap((infe) => {
    const idBytes = infe[0] === 3 ? 4 : 2;
    const typeAt = fullBoxBytes + idBytes + 2;
    return infe.toString('latin1', typeAt, typeAt + 4) === 'Exif'
      ? [new NumberReader(infe, fullBoxBytes).next(idBytes)]
      : [];
  });
}

// ISO/IEC 14496-12 section 8.11.3. Only the first extent is used.
function parseLocation(iloc: Buffer, item: number, data: Buffer): ItemLocation | undefined {
  const numbers = new NumberReader(iloc, fullBoxBytes);
  const version = iloc[0] ?? 0;
  const idBytes = version < 2 ? 2 : 4;
  const [sizes, moreSizes] = [numbers.next(1), numbers.next(1)];
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 4, sizes & 15, moreSizes >> 4];
  const indexBytes = version === 0 ? 0 : moreSizes & 15;
  for (let items = numbers.next(idBytes); items > 0 && !numbers.isAtEnd; items--) {
    const id = numbers.next(idBytes);
    const method = version === 0 ? 0 : numbers.next(2) & 15;
    numbers.skip(2);
    const base = numbers.next(baseBytes);
    const extents = numbers.next(2);
    if (id === item && extents > 0 && method < 2) {
      numbers.skip(indexBytes);
      const offset = base + numbers.next(offsetBytes);
      return { ...(method === 1 && { data }), offset, length: numbers.next(lengthBytes) };
    }
    numbers.skip(extents * (indexBytes + offsetBytes + lengthBytes));
  }
  return undefined;
}

/** Reads consecutive big-endian numbers; zeros after the end. */
class NumberReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  get isAtEnd(): boolean {
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
