import { exactNumber } from './exact-json.ts';
import type { MediaRecord, RecordPage } from './media-record.ts';
import { recordFields } from './response-fields.ts';
import { xmlDocument } from './xml-document.ts';

/** The record as compact JSON, with its fields in the order of docs/reference/interface.md section 2. */
export function recordToJson(record: MediaRecord): string {
  return compact(jsonFields(record));
}

/** A page of records under `media`, and its cursor as `next`. */
export function recordsToJson({ records, next }: RecordPage): string {
  return compact({ media: records.map(jsonFields), next });
}

/** The record as an XML document with the root `image` (docs/reference/interface.md section 2). */
export function recordToXml(record: MediaRecord): string {
  return xmlDocument({ image: xmlFields(record) });
}

/** A page of records: the root `media` has an `image` for each record, and `next` with the cursor. */
export function recordsToXml({ records, next }: RecordPage): string {
  return xmlDocument({ media: { image: records.map(xmlFields), ...(next !== undefined && { next }) } });
}

// Escapes ampersands, since some clients decode HTML entities before they parse (docs/decisions/forms-and-responses.md).
function compact(value: unknown): string {
  return JSON.stringify(value).replaceAll('&', '\\u0026');
}

const jsonFields = (record: MediaRecord) => recordFields(record, exactNumber(record.user.id));
const xmlFields = (record: MediaRecord) => recordFields(record, record.user.id.toString());
