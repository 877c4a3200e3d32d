import type { UnsupportedReason } from '../outcomes.ts';
import type { HeifItems } from './heif-items.ts';
import { areCropsInside, codedSize, displayedSize } from './heif-transformations.ts';

export type HeifType = 'avif' | 'heic';
/** The items that the decoder of each type reads: coded pictures, and those that are derived from others. */
const codedTypes: Readonly<Record<HeifType, readonly string[]>> = { avif: ['av01'], heic: ['hvc1', 'av01'] };
const derivedTypes = ['grid', 'iovl', 'iden'];
// A tile of a picture is rarely derived itself.
const maxLevels = 4;
/** The setup of the decoder of each type. */
const setupTypes: Readonly<Record<string, string>> = { hvc1: 'hvcC', av01: 'av1C' };
const knownProperties = [
  ...['hvcC', 'av1C', 'a1op', 'a1lx', 'lsel', 'ispe', 'pixi', 'pasp', 'auxC', 'rloc'],
  ...['colr', 'clli', 'mdcv', 'cclv', 'amve', 'clap', 'irot', 'imir'],
];

/** Why the decoder would refuse a picture: what is accepted must be shown. */
export function findObstacle(
  items: HeifItems,
  primary: number,
  type: HeifType,
  fileSize: number,
): UnsupportedReason | undefined {
  if (!areCropsInside(items.propertiesOf(primary))) return 'broken';
  if (items.hasDoubleReferences) return 'codec';
  let level = [primary];
  for (let n = 0; n < maxLevels && level.length > 0; n += 1) {
    const kinds = level.map((item) => items.typeOf(item) ?? '');
    if (kinds.some((kind) => !codedTypes[type].includes(kind) && !derivedTypes.includes(kind))) return 'codec';
    const properties = level.flatMap((item) => items.propertiesOf(item));
    if (properties.some((each) => each.isEssential && !knownProperties.includes(each.type))) return 'codec';
    const isCut = level.some((item) => items.endOf(item) > fileSize);
    if (isCut || level.some((item) => !canBeDecoded(items, item))) return 'broken';
    level = [...new Set(level.flatMap((item) => items.referencesFrom(item, 'dimg')))];
  }
  return level.length > 0 ? 'too_costly' : undefined;
}

function canBeDecoded(items: HeifItems, item: number): boolean {
  const kind = items.typeOf(item) ?? '';
  if (kind === 'iden') return isSizeOfSource(items, item);
  if (kind === 'grid') return isGridComplete(items, item);
  const setup = setupTypes[kind];
  return setup === undefined || items.propertiesOf(item).some(({ type }) => type === setup);
}

// ISO/IEC 23008-12 section 6.6.2.3: rows and columns less one, after the version and flags. Tiles have one size, and cover the picture.
function isGridComplete(items: HeifItems, item: number): boolean {
  const data = items.dataOf(item);
  const tiles = items.referencesFrom(item, 'dimg');
  if (!data) return true;
  if (data.length < 8) return false;
  const rows = data.readUInt8(2) + 1;
  const columns = data.readUInt8(3) + 1;
  const isLong = (data.readUInt8(1) & 1) === 1;
  if (rows * columns !== tiles.length || (isLong && data.length < 12)) return false;
  const [width, height] = isLong
    ? [data.readUInt32BE(4), data.readUInt32BE(8)]
    : [data.readUInt16BE(4), data.readUInt16BE(6)];
  const tile = displayedSize(items.propertiesOf(tiles[0] ?? 0));
  const declared = codedSize(items.propertiesOf(item));
  if (declared && (declared.width !== width || declared.height !== height)) return false;
  return tile === undefined || (tile.width * columns >= width && tile.height * rows >= height);
}

// An identity (`iden`) shows another item, whose displayed size it must declare.
function isSizeOfSource(items: HeifItems, item: number): boolean {
  const [source] = items.referencesFrom(item, 'dimg');
  if (source === undefined) return true;
  const shown = displayedSize(items.propertiesOf(source));
  const declared = displayedSize(items.propertiesOf(item).filter(({ type }) => type === 'ispe'));
  return shown?.width === declared?.width && shown?.height === declared?.height;
}
