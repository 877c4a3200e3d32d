import { type FileHandle, open } from 'node:fs/promises';
import type { VideoType } from '../detect-media-type.ts';
import { type EbmlElement, parseElement } from '../input/ebml-elements.ts';
import { fileReader } from '../input/inspect-file.ts';
import { boxesAt, handlerType, maxBoxes, maxMoovBytes, topLevelBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { matroskaElements } from './matroska-elements.ts';
import { isoTypes } from './video-edits.ts';

/**
 * Gives all tracks but the pictures an unknown codec, in the file at `path`: ffprobe 5.1 fails if it cannot open the decoder
 * of any track. False if nothing was changed. Only for MP4, QuickTime, 3GP, Matroska and WebM, whose headers set decoders up.
 */
export async function hideOtherTracks(path: string, type: VideoType): Promise<boolean> {
  await using file = await open(path, 'r+');
  const reader = await fileReader(file);
  if (isoTypes.includes(type)) return await hideSampleEntries(reader, file);
  return type === 'mkv' || type === 'webm' ? await hideCodecIds(reader, file) : false;
}

// ISO/IEC 14496-12 section 12.2.3: each description of samples is a box whose type is the codec. Boxes that set up a decoder
// follow the number of channels and the rate; QuickTime has more fields in other versions.
const unknownCodec = Buffer.from('zzzz');
const versionAt = 8;
const setupAt = 28;

async function hideSampleEntries(reader: SourceReader, file: FileHandle): Promise<boolean> {
  let isChanged = false;
  for await (const moov of topLevelBoxes(reader, maxBoxes)) {
    if (moov.type !== 'moov' || moov.end - moov.content > maxMoovBytes) continue;
    const bytes = await reader.at(moov.content, moov.end - moov.content);
    for (const trak of boxesAt(bytes, { content: 0, end: bytes.length }, 'trak')) {
      if (handlerType(bytes.subarray(trak.content, trak.end)) === 'vide') continue;
      for (const stsd of boxesAt(bytes, trak, 'mdia', 'minf', 'stbl', 'stsd')) {
        for (const entry of boxesAt(bytes, { content: stsd.content + 8, end: stsd.end })) {
          const hidden = Buffer.from(bytes.subarray(entry.offset, entry.end));
          const content = entry.content - entry.offset;
          unknownCodec.copy(hidden, 4);
          hidden.subarray(content + versionAt, content + versionAt + 2).fill(0);
          hidden.subarray(content + setupAt).fill(0);
          await file.write(hidden, 0, hidden.length, moov.content + entry.offset);
          isChanged = true;
        }
      }
    }
  }
  return isChanged;
}

// RFC 9559 section 5.1.4.
const [tracksId, trackEntryId, codecId] = [0x1654ae6b, 0xae, 0x86];
const maxTracksBytes = 8 * 1024 * 1024;

async function hideCodecIds(reader: SourceReader, file: FileHandle): Promise<boolean> {
  let isChanged = false;
  for await (const { kind, offset, end } of matroskaElements(reader, maxBoxes)) {
    if (kind !== 'needed' || end - offset > maxTracksBytes) continue;
    const bytes = await reader.at(offset, end - offset);
    for (const tracks of elements(bytes, 0, bytes.length, tracksId)) {
      for (const track of elements(bytes, tracks.content, tracks.end, trackEntryId)) {
        for (const codec of elements(bytes, track.content, track.end, codecId)) {
          if (bytes.toString('latin1', codec.content, codec.content + 2) === 'V_') continue;
          await file.write(Buffer.from('X'), 0, 1, offset + codec.content);
          isChanged = true;
        }
      }
    }
  }
  return isChanged;
}

function* elements(bytes: Buffer, start: number, end: number, id: number): Generator<EbmlElement> {
  for (let at = start; at < Math.min(end, bytes.length); ) {
    const element = parseElement(bytes, at);
    if (!element || element.end > bytes.length) return;
    if (element.id === id) yield element;
    at = element.end;
  }
}
