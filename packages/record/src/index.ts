export { exactNumber, parseExactJson } from './exact-json.ts';
export {
  isMediaId,
  isTombstone,
  type MediaRecord,
  mediaIdShape,
  newMediaId,
  publicRecord,
  type RecordPage,
  type RecordUser,
  type StoredRecord,
  type Tombstone,
} from './media-record.ts';
export { recordsToJson, recordsToXml, recordToJson, recordToXml } from './record-as-xml-and-json.ts';
export { maxAltCharacters, maxRecordBytes, maxTextLengths } from './record-limits.ts';
export {
  decodeStoredRecord,
  encodeStoredRecord,
  encodeTombstone,
  maxRecordTime,
  UnreadableRecord,
  UnsupportedVersion,
} from './stored-record.ts';
export { xmlDocument } from './xml-document.ts';
