import { exactNumber, parseExactJson } from './exact-json.ts';
import type { StoredRecord } from './media-record.ts';

const schemaVersion = 1;

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

/**
 * Reads what `encodeStoredRecord` wrote.
 * @throws UnreadableRecord
 */
export function decodeStoredRecord(bytes: Buffer): StoredRecord {
  const fields = parse(bytes);
  if (fields['version'] !== schemaVersion) throw new UnreadableRecord(`record of version ${fields['version']}`);
  const user = fields['user'] as { id: number | bigint; screen_name: string };
  return {
    id: fields['id'] as string,
    text: fields['text'] as string,
    width: fields['width'] as number,
    height: fields['height'] as number,
    size: fields['size'] as number,
    type: fields['type'] as string,
    timestamp: new Date(fields['timestamp'] as string),
    user: { id: BigInt(user.id), screenName: user.screen_name },
    mediaKey: fields['media_key'] as string,
    etag: fields['etag'] as string,
    provider: fields['provider'] as string,
    subject: fields['subject'] as string,
    application: fields['application'] as string,
  };
}

function parse(bytes: Buffer): Record<string, unknown> {
  try {
    return parseExactJson(bytes.toString()) as Record<string, unknown>;
  } catch (error) {
    throw new UnreadableRecord('record is no JSON', { cause: error });
  }
}
