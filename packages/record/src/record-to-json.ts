import { exactNumber } from './exact-json.ts';
import type { MediaRecord } from './media-record.ts';
import { uploadTimestamp } from './upload-timestamp.ts';

/**
 * The record as one compact JSON object, its fields in the order of INTERFACE section 2. Slashes are not escaped; an ampersand
 * is, since there are clients that decode HTML's entities before they parse (docs/decisions/012).
 */
export function recordToJson({ id, text, url, width, height, size, type, timestamp, user }: MediaRecord): string {
  const json = JSON.stringify({
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
  return json.replaceAll('&', '\\u0026');
}
