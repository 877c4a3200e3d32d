import {
  type EbmlElement,
  elementsAt,
  maxElementHeaderBytes,
  maxElements,
  parseElement,
} from '../input/ebml-elements.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { maxTracks } from './video-codecs.ts';

// RFC 9559 section 5.1.
const segmentId = 0x18538067;
const clusterId = 0x1f43b675;
const tracksId = 0x1654ae6b;
const neededIds = new Set([0x1549a966, tracksId]);

const smallBytes = 64 * 1024;

/**
 * The top-level elements of a Matroska segment up to the first pictures, at most `limit`. Large ones that a probe does not
 * need (fonts, covers, tags, an index) are `unneeded`. Ends early at bytes that are no element, and at one of unknown length
 * or beyond the end of the media.
 */
export async function* matroskaElements(reader: SourceReader, limit: number) {
  const header = await readElement(reader, 0);
  const body = header && (await readElement(reader, header.end));
  if (body?.id !== segmentId) return;
  let offset = body.content;
  for (let n = 0; n < limit && offset < reader.size; n++) {
    const element = await readElement(reader, offset);
    if (!element) return;
    const { id, end } = element;
    if (id === clusterId) {
      yield { kind: 'pictures' as const, offset, end };
      return;
    }
    if (end > reader.size) return;
    yield {
      kind: neededIds.has(id) || end - offset <= smallBytes ? ('needed' as const) : ('unneeded' as const),
      offset,
      end,
    };
    offset = end;
  }
}

const trackEntryId = 0xae;
const trackTypeId = 0x83;
// Video, sound, subtitles, metadata: ffmpeg skips other types, and does not count them.
const countedTypes = [1, 2, 17, 33];
const maxTracksBytes = 8 * 1024 * 1024;

/** The descriptions of tracks, with offsets into `bytes`, which are at `offset` of the media. */
interface MatroskaTracks {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly tracks: readonly EbmlElement[];
}

/** Reads the descriptions of tracks (section 5.1.4); none if they are larger than 8 MiB. */
export async function readMatroskaTracks(reader: SourceReader): Promise<MatroskaTracks> {
  for await (const { kind, offset, end } of matroskaElements(reader, maxElements)) {
    if (kind !== 'needed' || end - offset > maxTracksBytes) continue;
    const bytes = await reader.at(offset, end - offset);
    const entries = elementsAt(bytes, { content: 0, end: bytes.length }, tracksId, trackEntryId).take(maxTracks);
    const tracks = entries.filter((entry) => countedTypes.includes(typeOf(bytes, entry))).toArray();
    if (tracks.length > 0) return { bytes, offset, tracks };
  }
  return { bytes: Buffer.alloc(0), offset: 0, tracks: [] };
}

function typeOf(bytes: Buffer, track: EbmlElement): number {
  const [type] = elementsAt(bytes, track, trackTypeId);
  return (type && bytes[type.end - 1]) ?? 0;
}

async function readElement(reader: SourceReader, offset: number): Promise<EbmlElement | undefined> {
  const element = parseElement(await reader.at(offset, maxElementHeaderBytes), 0);
  return element && { id: element.id, content: offset + element.content, end: offset + element.end };
}

/** The header of a Void element (RFC 8794 section 11.3.2) of `length` bytes in all, at least 9. */
export function voidHeader(length: number): Buffer {
  const header = Buffer.alloc(9);
  header.writeBigUInt64BE((1n << 56n) | BigInt(length - header.length), 1);
  header[0] = 0xec;
  return header;
}
