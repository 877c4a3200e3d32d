import type { MediaRecord } from './media-record.ts';
import { uploadTimestamp } from './upload-timestamp.ts';
import { xmlDocument } from './xml-document.ts';

/** The record as an XML document with the root `image` (INTERFACE section 2). */
export function recordToXml({ id, text, url, width, height, size, type, timestamp, user }: MediaRecord): string {
  return xmlDocument({
    image: {
      id,
      text,
      url,
      width,
      height,
      size,
      type,
      timestamp: uploadTimestamp(timestamp),
      user: { id: user.id.toString(), screen_name: user.screenName },
    },
  });
}
