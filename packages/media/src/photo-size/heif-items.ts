import { boxContents } from '../input/iso-boxes.ts';
import {
  fullBoxBytes,
  type ItemProperty,
  itemPlaces,
  itemProperties,
  itemTypes,
  NumberReader,
  type Place,
  type Reference,
  references,
} from './heif-item-boxes.ts';

/** The location of an item's bytes: in `data`, the content of the `idat` box, or else in the file. */
export interface ItemLocation {
  readonly data?: Buffer;
  readonly offset: number;
  readonly length: number;
}

/** The items of a HEIF: the content of its `meta` box (ISO/IEC 14496-12 section 8.11). */
export class HeifItems {
  readonly #meta: Buffer;
  readonly #types: ReadonlyMap<number, string>;
  readonly #places: ReadonlyMap<number, Place>;
  readonly #references: readonly Reference[];
  readonly #byOrigin: ReadonlyMap<string, Reference>;
  readonly #properties: ReadonlyMap<number, readonly ItemProperty[]>;
  readonly #data: Buffer | undefined;

  constructor(meta: Buffer) {
    this.#meta = meta;
    this.#types = new Map(boxContents(meta, 'iinf', fullBoxBytes).flatMap(itemTypes));
    this.#places = new Map(boxContents(meta, 'iloc', fullBoxBytes).slice(0, 1).flatMap(itemPlaces));
    this.#references = boxContents(meta, 'iref', fullBoxBytes).flatMap(references);
    this.#byOrigin = new Map(this.#references.map((each) => [`${each.type} ${each.from}`, each]));
    this.#properties = itemProperties(meta);
    [this.#data] = boxContents(meta, 'idat', fullBoxBytes);
  }

  /** The id of the displayed item. */
  get primary(): number | undefined {
    const [pitm] = boxContents(this.#meta, 'pitm', fullBoxBytes);
    return pitm && new NumberReader(pitm, fullBoxBytes).next(pitm[0] === 0 ? 2 : 4);
  }

  /** Whether a list of references names an item twice, which libheif rejects. */
  get hasDoubleReferences(): boolean {
    return this.#references.some(({ to }) => new Set(to).size < to.length);
  }

  /** Four letters, such as `hvc1` for HEVC and `grid` for tiles. */
  typeOf(item: number): string | undefined {
    return this.#types.get(item);
  }

  /** An item's properties, in the order of their application (ISO/IEC 23008-12 section 9.3). */
  propertiesOf(item: number): readonly ItemProperty[] {
    return this.#properties.get(item) ?? [];
  }

  /** The items that `item` refers to in this way, such as `dimg` for the items that it is derived from. */
  referencesFrom(item: number, type: string): readonly number[] {
    return this.#byOrigin.get(`${type} ${item}`)?.to ?? [];
  }

  /** The offset after the last byte of an item in the file; 0 if it is elsewhere. Undefined if it has no place. */
  endOf(item: number): number | undefined {
    const place = this.#places.get(item);
    return place && (place.isInFile ? place.end : 0);
  }

  /** The bytes of an item in the `idat` box; undefined if they are elsewhere. */
  dataOf(item: number): Buffer | undefined {
    const place = this.#places.get(item);
    if (!place || place.isInFile) return undefined;
    return this.#data?.subarray(place.offset, place.offset + place.length);
  }

  /** The location of the EXIF of an item. */
  exifOf(item: number): ItemLocation | undefined {
    const describing = this.#references.filter(({ type, to }) => type === 'cdsc' && to.includes(item));
    const exif = describing.find(({ from }) => this.#types.get(from) === 'Exif');
    const place = exif && this.#places.get(exif.from);
    if (!place) return undefined;
    const data = this.#data ?? Buffer.alloc(0);
    return { ...(!place.isInFile && { data }), offset: place.offset, length: place.length };
  }
}
