import { z } from 'zod';
import { exactNumber, parseExactJson } from './exact-json.ts';
import type { StoredRecord } from './media-record.ts';
import type { Tombstone } from './tombstone.ts';

const schemaVersion = 1;

const storedShape = z.object({
  version: z.literal(schemaVersion),
  id: z.string(),
  text: z.string(),
  width: z.int(),
  height: z.int(),
  size: z.int(),
  type: z.string(),
  etag: z.string(),
  crc32: z.string().optional(),
  provider: z.string(),
  subject: z.string(),
  application: z.string(),
  media_key: z.string(),
  timestamp: z.iso.datetime().transform((time) => new Date(time)),
  user: z.object({ id: z.union([z.int(), z.bigint()]).transform(BigInt), screen_name: z.string() }),
});

const removedShape = z.object({
  version: z.literal(schemaVersion),
  id: z.string(),
  media_key: z.string(),
  owner: z.string(),
  timestamp: z.iso.datetime().transform((time) => new Date(time)),
  removed: z.object({
    by: z.enum(['owner', 'operator']),
    at: z.iso.datetime().transform((time) => new Date(time)),
  }),
});

/** The object could not be read as a record: not ours, or written by a later release. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

/** The bytes that the store keeps of a record. */
export function encodeStoredRecord(record: StoredRecord): Buffer {
  const { mediaKey, timestamp, user, ...rest } = record;
  return Buffer.from(
    JSON.stringify({
      version: schemaVersion,
      ...rest,
      media_key: mediaKey,
      timestamp: timestamp.toISOString(),
      user: { id: exactNumber(user.id), screen_name: user.screenName },
    }),
  );
}

/** The bytes that the store keeps in the place of a record that was removed. */
export function encodeTombstone({ id, mediaKey, owner, timestamp, removed }: Tombstone): Buffer {
  return Buffer.from(
    JSON.stringify({
      version: schemaVersion,
      id,
      media_key: mediaKey,
      owner,
      timestamp: timestamp.toISOString(),
      removed: { by: removed.by, at: removed.at.toISOString() },
    }),
  );
}

/**
 * Reads what `encodeStoredRecord` or `encodeTombstone` wrote.
 * @throws UnreadableRecord
 */
export function decodeStoredRecord(bytes: Buffer): StoredRecord | Tombstone {
  const parsed = parse(bytes);
  const { data, error } = z.union([removedShape, storedShape]).safeParse(parsed);
  if (!data) throw new UnreadableRecord(faultOf(parsed), { cause: error });
  const { version: _, media_key: mediaKey, ...rest } = data;
  if ('removed' in rest) return { ...rest, mediaKey };
  return { ...rest, mediaKey, user: { id: rest.user.id, screenName: rest.user.screen_name } };
}

function faultOf(parsed: unknown): string {
  const version = z.object({ version: z.number() }).safeParse(parsed).data?.version;
  if (version === undefined) return 'it is no record';
  if (version === schemaVersion) return `it is no record of version ${version}, though it says so`;
  return `it is of version ${version}, and this release reads version ${schemaVersion}`;
}

function parse(bytes: Buffer): unknown {
  try {
    return parseExactJson(bytes.toString());
  } catch (error) {
    throw new UnreadableRecord('it is no JSON', { cause: error });
  }
}
