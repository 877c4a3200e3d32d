import { boxContents, childBoxes } from '../input/iso-boxes.ts';

/** The location of an item's bytes: in `data`, the content of the `idat` box, or else in the file. */
export interface ItemLocation {
  readonly data?: Buffer;
  readonly offset: number;
  readonly length: number;
}

export type HeifItems = ReturnType<typeof readItems>;

/** The items of a HEIF, from the content of its `meta` box (ISO/IEC 14496-12 section 8.11). */
export function readItems(meta: Buffer) {
  const boxes = (type: string) => boxContents(meta, type, fullBoxBytes);
  const types: ReadonlyMap<number, string> = new Map(boxes('iinf').flatMap(itemTypes));
  const places: ReadonlyMap<number, Place> = new Map(boxes('iloc').slice(0, 1).flatMap(itemPlaces));
  const allReferences: readonly Reference[] = boxes('iref').flatMap(references);
  const byOrigin = new Map(allReferences.map((each) => [`${each.type} ${each.from}`, each]));
  const properties = itemProperties(meta);
  const [pitm] = boxes('pitm');
  const [data] = boxes('idat');
  return {
    /** The id of the displayed item. */
    primary: pitm && new NumberReader(pitm, fullBoxBytes).next(pitm[0] === 0 ? 2 : 4),

    /** Whether a list of references names an item twice, which libheif rejects. */
    hasDoubleReferences: allReferences.some(({ to }) => new Set(to).size < to.length),

    /** Four letters, such as `hvc1` for HEVC and `grid` for tiles. */
    typeOf: (item: number) => types.get(item),

    /** An item's properties, in the order of their application (ISO/IEC 23008-12 section 9.3). */
    propertiesOf: (item: number): readonly ItemProperty[] => properties.get(item) ?? [],

    /** The items that `item` refers to in this way, such as `dimg` for the items that it is derived from. */
    referencesFrom: (item: number, type: string): readonly number[] => byOrigin.get(`${type} ${item}`)?.to ?? [],

    /** The offset after the last byte of an item in the file; 0 if it is elsewhere or has no place. */
    endOf(item: number): number {
      const place = places.get(item);
      return place?.isInFile ? place.end : 0;
    },

    /** The bytes of an item in the `idat` box; undefined if they are elsewhere. */
    dataOf(item: number): Buffer | undefined {
      const place = places.get(item);
      if (!place || place.isInFile) return undefined;
      return data?.subarray(place.offset, place.offset + place.length);
    },

    /** The location of the EXIF of an item. */
    exifOf(item: number): ItemLocation | undefined {
      const describing = allReferences.filter(({ type, to }) => type === 'cdsc' && to.includes(item));
      const exif = describing.find(({ from }) => types.get(from) === 'Exif');
      const place = exif && places.get(exif.from);
      if (!place) return undefined;
      const { isInFile, offset, length } = place;
      return { ...(!isInFile && { data: data ?? Buffer.alloc(0) }), offset, length };
    },
  };
}

/** The bytes of version and flags of a full box. */
const fullBoxBytes = 4;

/** A property of an item: a box type and its content. */
export interface ItemProperty {
  readonly type: string;
  readonly content: Buffer;
  /** Whether a reader that does not know it must not show the item. */
  readonly isEssential: boolean;
}

/** The place of an item whose bytes are in the file or in the `idat` box. */
interface Place {
  readonly isInFile: boolean;
  /** The offset of the first extent. */
  readonly offset: number;
  readonly length: number;
  /** The offset after the last extent. */
  readonly end: number;
}

interface Reference {
  readonly type: string;
  readonly from: number;
  readonly to: readonly number[];
}

/** The properties of each item: indexes into the boxes of `ipco`. The first list of an item counts. */
function itemProperties(meta: Buffer): ReadonlyMap<number, readonly ItemProperty[]> {
  const [iprp = Buffer.alloc(0)] = boxContents(meta, 'iprp', fullBoxBytes);
  const [ipco = Buffer.alloc(0)] = boxContents(iprp, 'ipco');
  const boxes = [...childBoxes(ipco, 0)];
  const found = new Map<number, readonly ItemProperty[]>();
  for (const [item, indexes] of boxContents(iprp, 'ipma').flatMap(propertyIndexes)) {
    if (found.has(item)) continue;
    const properties = indexes.flatMap(({ index, isEssential }) => {
      const box = boxes[index - 1];
      return box ? [{ type: box.type, content: ipco.subarray(box.content, box.end), isEssential }] : [];
    });
    found.set(item, properties);
  }
  return found;
}

// For each item its id and indexes into `ipco` from 1; the highest bit of each marks it as essential.
function propertyIndexes(ipma: Buffer): [item: number, { index: number; isEssential: boolean }[]][] {
  const numbers = new NumberReader(ipma, fullBoxBytes);
  const idBytes = ipma[0] === 0 ? 2 : 4;
  const [indexBytes, essential] = ((ipma[3] ?? 0) & 1) === 1 ? [2, 0x8000] : [1, 0x80];
  const lists: ReturnType<typeof propertyIndexes> = [];
  for (let items = numbers.next(4); items > 0 && !numbers.isAtEnd; items--) {
    const id = numbers.next(idBytes);
    const indexes = Array.from({ length: numbers.next(1) }, () => numbers.next(indexBytes));
    lists.push([id, indexes.map((each) => ({ index: each & (essential - 1), isEssential: each >= essential }))]);
  }
  return lists;
}

/** Boxes of an item, then a list of items (section 8.11.12). */
function references(iref: Buffer): Reference[] {
  const idBytes = iref[0] === 0 ? 2 : 4;
  return [...childBoxes(iref, fullBoxBytes)].map(({ type, content, end }) => {
    const numbers = new NumberReader(iref.subarray(content, end), 0);
    const from = numbers.next(idBytes);
    const to: number[] = [];
    for (let left = numbers.next(2); left > 0 && !numbers.isAtEnd; left--) to.push(numbers.next(idBytes));
    return { type, from, to };
  });
}

/** Types by item. The box has a count, then a box for each item: its id, two bytes for protection, and four letters for its type. */
function itemTypes(iinf: Buffer): [number, string][] {
  return boxContents(iinf, 'infe', fullBoxBytes + (iinf[0] === 0 ? 2 : 4)).map((infe) => {
    const idBytes = infe[0] === 3 ? 4 : 2;
    const typeAt = fullBoxBytes + idBytes + 2;
    return [new NumberReader(infe, fullBoxBytes).next(idBytes), infe.toString('latin1', typeAt, typeAt + 4)];
  });
}

/** Places by item (section 8.11.3). Items that are made of other items (method 2) have none. */
function itemPlaces(iloc: Buffer): [number, Place][] {
  const numbers = new NumberReader(iloc, fullBoxBytes);
  const version = iloc[0] ?? 0;
  const idBytes = version < 2 ? 2 : 4;
  const sizes = numbers.next(1);
  const moreSizes = numbers.next(1);
  const lengths = { index: version === 0 ? 0 : moreSizes & 15, offset: sizes >> 4, length: sizes & 15 };
  const places: [number, Place][] = [];
  for (let items = numbers.next(idBytes); items > 0 && !numbers.isAtEnd; items--) {
    const id = numbers.next(idBytes);
    const method = version === 0 ? 0 : numbers.next(2) & 15;
    numbers.skip(2);
    const base = numbers.next(moreSizes >> 4);
    const [first, ...others] = readExtents(numbers, lengths);
    if (!first || method > 1) continue;
    const end = [first, ...others].reduce((last, { offset, length }) => Math.max(last, base + offset + length), 0);
    places.push([id, { isInFile: method === 0, offset: base + first.offset, length: first.length, end }]);
  }
  return places;
}

function readExtents(numbers: NumberReader, bytes: { index: number; offset: number; length: number }) {
  const count = numbers.next(2);
  const extentBytes = bytes.index + bytes.offset + bytes.length;
  const extents: { readonly offset: number; readonly length: number }[] = [];
  // An extent without bytes is the whole file; a hostile list has 65,535 of them.
  for (let left = extentBytes === 0 ? Math.min(count, 1) : count; left > 0 && !numbers.isAtEnd; left--) {
    numbers.skip(bytes.index);
    extents.push({ offset: numbers.next(bytes.offset), length: numbers.next(bytes.length) });
  }
  return extents;
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
