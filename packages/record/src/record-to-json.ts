import { exactNumber } from './exact-json.ts';
import type { MediaRecord, RecordPage } from './media-record.ts';
import { recordFields } from './record-fields.ts';

/**
 * The record as one compact JSON object, its fields in the order of docs/interface.md section 2. Slashes are not escaped; an ampersand
 * is, since there are clients that decode HTML's entities before they parse (docs/decisions/012).
 */
export function recordToJson(record: MediaRecord): string {
  return compact(spelled(record));
}

/** A page of records under `media`, and the cursor of the page after it, where there is one, as `next`. */
export function recordsToJson({ records, next }: RecordPage): string {
  return compact({ media: records.map(spelled), next });
}

function spelled(record: MediaRecord) {
  return recordFields(record, exactNumber(record.user.id));
}

function compact(value: unknown): string {
  return JSON.stringify(value).replaceAll('&', '\\u0026');
}
