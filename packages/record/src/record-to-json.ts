import { exactNumber } from './exact-json.ts';
import type { MediaRecord } from './media-record.ts';
import { uploadTimestamp } from './upload-timestamp.ts';

/** The record as one compact JSON object, its fields in the order of INTERFACE section 2; slashes are not escaped. */
export function recordToJson({ id, text, url, width, height, size, type, timestamp, user }: MediaRecord): string {
  return JSON.stringify({
    id,
    text,
    url,
    width,
    height,
    size,
    type,
    timestamp: uploadTimestamp(timestamp),
    user: { id: exactNumber(user.id), screen_name: user.screenName },
  });
}
