import { z } from 'zod';
import { exactNumber, parseExactJson } from './exact-json.ts';
import type { StoredRecord, Tombstone } from './media-record.ts';

const version = 1;

const time = z.iso.datetime().transform((text) => new Date(text));
const commonShape = z.object({ version: z.literal(version), id: z.string(), media_key: z.string(), timestamp: time });

const storedShape = commonShape.extend({
  text: z.string(),
  alt: z.string().optional(),
  width: z.int(),
  height: z.int(),
  size: z.int(),
  type: z.string(),
  etag: z.string(),
  crc32: z.string().optional(),
  provider: z.string(),
  subject: z.string(),
  application: z.string(),
  user: z.object({ id: z.union([z.int(), z.bigint()]).transform(BigInt), screen_name: z.string() }),
});

const removedShape = commonShape.extend({
  owner: z.string(),
  removed: z.object({ by: z.enum(['owner', 'operator']), at: time }),
});

/** The object is not a record, or a later release wrote it. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

/** The bytes of a record in the store. */
export function encodeStoredRecord({ mediaKey, timestamp, user, ...rest }: StoredRecord): Buffer {
  const storedUser = { id: exactNumber(user.id), screen_name: user.screenName };
  return Buffer.from(JSON.stringify({ version, ...rest, media_key: mediaKey, timestamp, user: storedUser }));
}

/** The bytes of a tombstone, which replace those of the record. */
export function encodeTombstone({ id, mediaKey, owner, timestamp, removed: { by, at } }: Tombstone): Buffer {
  return Buffer.from(JSON.stringify({ version, id, media_key: mediaKey, owner, timestamp, removed: { by, at } }));
}

/** Reads the bytes of a record or a tombstone. @throws UnreadableRecord */
export function decodeStoredRecord(bytes: Buffer): StoredRecord | Tombstone {
  const parsed = parse(bytes);
  const { data, error } = z.union([removedShape, storedShape]).safeParse(parsed);
  if (!data) throw new UnreadableRecord(faultOf(parsed), { cause: error });
  const { version: _, media_key: mediaKey, ...rest } = data;
  if ('removed' in rest) return { ...rest, mediaKey };
  return { ...rest, mediaKey, user: { id: rest.user.id, screenName: rest.user.screen_name } };
}

function faultOf(parsed: unknown): string {
  const found = z.object({ version: z.number() }).safeParse(parsed).data?.version;
  if (found === undefined) return 'not a record';
  if (found === version) return `invalid record of version ${version}`;
  return `unsupported version ${found}; this release reads ${version}`;
}

function parse(bytes: Buffer): unknown {
  try {
    return parseExactJson(bytes.toString());
  } catch (error) {
    throw new UnreadableRecord('invalid JSON', { cause: error });
  }
}
