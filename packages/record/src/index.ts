export { exactNumber, parseExactJson } from './exact-json.ts';
export {
  isMediaId,
  isTombstone,
  type MediaRecord,
  maxAltCharacters,
  mediaIdShape,
  newMediaId,
  publicRecord,
  type RecordPage,
  type RecordUser,
  type StoredRecord,
  type Tombstone,
} from './media-record.ts';
export { recordsToJson, recordsToXml, recordToJson, recordToXml } from './record-as-xml-and-json.ts';
export {
  decodeStoredRecord,
  encodeStoredRecord,
  encodeTombstone,
  maxRecordBytes,
  maxRecordTime,
  maxTextLengths,
  UnreadableRecord,
  UnsupportedVersion,
} from './stored-record.ts';
export { xmlDocument } from './xml-document.ts';
