import type { MediaRecord, RecordPage } from './media-record.ts';
import { recordFields } from './record-fields.ts';
import { xmlDocument } from './xml-document.ts';

/** The record as an XML document with the root `image` (docs/interface.md section 2). */
export function recordToXml(record: MediaRecord): string {
  return xmlDocument({ image: spelled(record) });
}

/** A page of records, an `image` each, below the root `media`, and the cursor of the page after it, where there is one, as `next`. */
export function recordsToXml({ records, next }: RecordPage): string {
  return xmlDocument({ media: { image: records.map(spelled), ...(next !== undefined && { next }) } });
}

function spelled(record: MediaRecord) {
  return recordFields(record, record.user.id.toString());
}
