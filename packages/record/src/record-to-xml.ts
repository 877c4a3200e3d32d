import type { MediaRecord, RecordPage } from './media-record.ts';
import { uploadTimestamp } from './upload-timestamp.ts';
import { type XmlElements, xmlDocument } from './xml-document.ts';

/** The record as an XML document with the root `image` (INTERFACE section 2). */
export function recordToXml(record: MediaRecord): string {
  return xmlDocument({ image: spelled(record) });
}

/** A page of records, an `image` each, below the root `media`, and the cursor of the page after it, where there is one, as `next`. */
export function recordsToXml({ records, next }: RecordPage): string {
  return xmlDocument({ media: { image: records.map(spelled), ...(next !== undefined && { next }) } });
}

function spelled({ id, text, url, width, height, size, type, timestamp, user }: MediaRecord): XmlElements {
  return {
    id,
    text,
    url,
    width,
    height,
    size,
    type,
    timestamp: uploadTimestamp(timestamp),
    user: { id: user.id.toString(), screen_name: user.screenName },
  };
}
