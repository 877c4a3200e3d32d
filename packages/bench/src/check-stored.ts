import { crc32 } from 'node:zlib';
import type { LoadResult } from './load.ts';
import { bytesOf, type Media } from './media.ts';
import { type StoredObject, sizeOf } from './stand-ins/stored-objects.ts';
import { formOf, type SystemKind } from './upload-request.ts';

/** Finds uploads without a correct response, and missing or wrong media, records and listing entries in the store. */
export function faultsOf(
  kind: SystemKind,
  media: Media,
  { responses }: LoadResult,
  objects: readonly StoredObject[],
): string[] {
  const expected = hashesOf(kind === 'pass-through' ? formOf(media) : bytesOf(media));
  const stored = objects.filter(({ key }) => key.startsWith('media/'));
  const records = objects.filter(({ key }) => key.startsWith('records/'));
  const isRecord = (text: string) => kind === 'pass-through' || describes(parse(text), kind, media);
  const faults = [
    ...responses
      .filter(({ status, body }) => status !== 200 || !isRecord(body))
      .map(({ status, body }) => `${status} ${body}`),
    ...stored.filter(({ parts }) => !expected(parts)).map(({ key }) => `wrong bytes in ${key}`),
    ...records
      .filter(({ text }) => !describes(parse(text ?? ''), kind, media))
      .map(({ key, text }) => `wrong ${key}: ${text}`),
  ];
  if (stored.length !== responses.length) faults.push(`${stored.length} media of ${responses.length} uploads`);
  if (kind === 'echodrop') faults.push(...recordFaults(responses, records, stored), ...entryFaults(responses, objects));
  return faults;
}

function entryFaults(responses: LoadResult['responses'], objects: readonly StoredObject[]): string[] {
  return ['by-user/', 'by-time/'].flatMap((prefix) => {
    const entries = objects.filter(({ key }) => key.startsWith(prefix)).length;
    return entries === responses.length ? [] : [`${entries} entries in ${prefix} of ${responses.length} uploads`];
  });
}

function recordFaults(
  responses: LoadResult['responses'],
  records: readonly StoredObject[],
  stored: readonly StoredObject[],
): string[] {
  const mediaKeys = new Set(stored.map(({ key }) => key.slice('media/'.length)));
  const recorded = new Map(records.map(({ text }) => [parse(text ?? '')['id'], parse(text ?? '')['media_key']]));
  const faults = responses.flatMap(({ body }) => {
    const { id } = parse(body);
    return mediaKeys.delete(`${recorded.get(id)}`) ? [] : [`no record with its own media for ${id}`];
  });
  if (records.length !== responses.length) faults.push(`${records.length} records of ${responses.length} uploads`);
  return faults;
}

function describes(record: Record<string, unknown>, kind: SystemKind, media: Media): boolean {
  const { width, height, size, type } = record;
  if (kind === 'naive')
    return size === media.size && (media.type === 'mp4' || (width === media.width && height === media.height));
  return width === media.width && height === media.height && size === media.size && type === media.type;
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Whether an object that was written in parts has these bytes. */
function hashesOf(chunks: readonly Buffer[]): (parts: StoredObject['parts']) => boolean {
  const bytes = Buffer.concat(chunks);
  const known = new Map<string, string>();
  return (parts) => {
    const layout = parts.map(({ size }) => size).join();
    const expected = known.get(layout) ?? crcsOf(bytes, parts).join();
    known.set(layout, expected);
    return sizeOf(parts) === bytes.length && expected === parts.map(({ crc }) => crc).join();
  };
}

function crcsOf(bytes: Buffer, parts: StoredObject['parts']): number[] {
  let end = 0;
  return parts.map(({ size }) => {
    const begin = end;
    end += size;
    return crc32(bytes.subarray(begin, end));
  });
}
