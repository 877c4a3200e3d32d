export { exactNumber, parseExactJson } from './exact-json.ts';
export { isMediaId, newMediaId } from './media-id.ts';
export { type MediaRecord, publicRecord, type RecordPage, type RecordUser, type StoredRecord } from './media-record.ts';
export { recordsToJson, recordToJson } from './record-to-json.ts';
export { recordsToXml, recordToXml } from './record-to-xml.ts';
export { decodeStoredRecord, encodeStoredRecord, encodeTombstone, UnreadableRecord } from './stored-record.ts';
export { isTombstone, type Tombstone } from './tombstone.ts';
export { uploadTimestamp } from './upload-timestamp.ts';
export { type XmlElements, xmlDocument } from './xml-document.ts';
