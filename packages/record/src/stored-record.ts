import { z } from 'zod';
import { exactNumber, parseExactJson } from './exact-json.ts';
import { mediaIdShape, type StoredRecord, type Tombstone } from './media-record.ts';
import { maxTextLengths } from './record-limits.ts';

const version = 1;

/** The earliest and the latest time of a record, in milliseconds since 1970. Names of listing entries have 13 digits for the time. */
export const minRecordTime = 0;
export const maxRecordTime = 9_999_999_999_999;
const time = z.iso
  .datetime()
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() >= minRecordTime && at.getTime() <= maxRecordTime);
// The range of signed and unsigned 64-bit integers.
const userId = z
  .union([z.int(), z.bigint()])
  .transform(BigInt)
  .refine((id) => id >= -(2n ** 63n) && id < 2n ** 64n);
// Media keys and owners are 128 bits.
const hash = z.string().regex(/^[0-9a-f]{32}$/);
const pixels = z.int().min(1);
const commonShape = z.object({
  version: z.literal(version),
  id: mediaIdShape,
  media_key: hash,
  timestamp: time,
});

const storedShape = commonShape.extend({
  text: z.string().max(maxTextLengths.text),
  alt: z.string().max(maxTextLengths.alt).optional(),
  width: pixels,
  height: pixels,
  size: z.int().min(0),
  // An export names the media's file with this extension, beside the record's own file.
  type: z
    .string()
    .regex(/^[a-z0-9]{1,8}$/)
    .refine((type) => type !== 'json'),
  etag: z.string().max(maxTextLengths.etag),
  crc32: z
    .string()
    .regex(/^[0-9a-f]{8}$/)
    .optional(),
  provider: z.string().max(maxTextLengths.provider),
  subject: z.string().max(maxTextLengths.subject),
  application: z.string().max(maxTextLengths.application),
  user: z.object({ id: userId, screen_name: z.string().max(maxTextLengths.screenName) }),
});

const removedShape = commonShape.extend({
  owner: hash,
  removed: z.object({ by: z.enum(['owner', 'operator']), at: time }),
});

const kindShape = z.object({ version: z.number(), removed: z.unknown().optional() });

/** An object is not a record. The message says why in plain characters, and repeats nothing of the object but an id or a version. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

/** Another release may have written the record. */
export class UnsupportedVersion extends UnreadableRecord {}

/** The bytes of a record in the store. */
export function encodeStoredRecord({ mediaKey, timestamp, user, ...rest }: StoredRecord): Buffer {
  const storedUser = { id: exactNumber(user.id), screen_name: user.screenName };
  return Buffer.from(JSON.stringify({ version, ...rest, media_key: mediaKey, timestamp, user: storedUser }));
}

/** The bytes of a tombstone, which replace those of the record. */
export function encodeTombstone({ id, mediaKey, owner, timestamp, removed: { by, at } }: Tombstone): Buffer {
  return Buffer.from(JSON.stringify({ version, id, media_key: mediaKey, owner, timestamp, removed: { by, at } }));
}

/**
 * Reads the bytes of the record or tombstone of `id`. A service that was taken over may have written them, so every field has its exact shape.
 * @throws UnreadableRecord
 */
export function decodeStoredRecord(bytes: Buffer, id: string): StoredRecord | Tombstone {
  const parsed = parse(bytes);
  const { data: kind } = kindShape.safeParse(parsed);
  if (!kind) throw new UnreadableRecord('not a record');
  if (kind.version !== version)
    throw new UnsupportedVersion(`unsupported version ${kind.version}; this release reads ${version}`);
  const shape = kind.removed === undefined ? storedShape : removedShape;
  const { data, error } = shape.safeParse(parsed);
  if (!data) throw new UnreadableRecord(`invalid ${error.issues[0]?.path.join('.')}`, { cause: error });
  if (data.id !== id) throw new UnreadableRecord(`record of another id, ${data.id}`);
  const { version: _, media_key: mediaKey, ...rest } = data;
  if ('removed' in rest) return { ...rest, mediaKey };
  return { ...rest, mediaKey, user: { id: rest.user.id, screenName: rest.user.screen_name } };
}

function parse(bytes: Buffer): unknown {
  try {
    return parseExactJson(bytes.toString());
  } catch (error) {
    throw new UnreadableRecord('invalid JSON', { cause: error });
  }
}
