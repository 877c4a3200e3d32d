export { exactNumber, parseExactJson } from './exact-json.ts';
export { isMediaId, newMediaId } from './media-id.ts';
export { type MediaRecord, publicRecord, type RecordUser, type StoredRecord } from './media-record.ts';
export { recordToJson } from './record-to-json.ts';
export { recordToXml } from './record-to-xml.ts';
export { decodeStoredRecord, encodeStoredRecord, UnreadableRecord } from './stored-record.ts';
export { uploadTimestamp } from './upload-timestamp.ts';
export { type XmlElements, xmlDocument } from './xml-document.ts';
