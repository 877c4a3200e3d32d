import { open } from 'node:fs/promises';
import type { VideoType } from '../detect-media-type.ts';
import { elementsAt } from '../input/ebml-elements.ts';
import { fileReader } from '../input/inspect-file.ts';
import { boxesAt, handlerType, maxBoxes, maxMoovBytes, topLevelBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { matroskaElements } from './matroska-elements.ts';
import { isoTypes } from './video-codecs.ts';

/** Bytes that replace others in a file. */
interface Patch {
  readonly offset: number;
  readonly bytes: Buffer;
}

/**
 * Gives all tracks but the pictures an unknown codec, in the file at `path`: ffprobe 5.1 fails if it cannot open the decoder
 * of any track. False if nothing was changed. Only for MP4, QuickTime, 3GP, Matroska and WebM, whose headers set decoders up.
 */
export async function hideOtherTracks(path: string, type: VideoType): Promise<boolean> {
  await using file = await open(path, 'r+');
  const reader = await fileReader(file);
  const patches = isoTypes.includes(type) ? await patchMoov(reader) : [];
  if (type === 'mkv' || type === 'webm') patches.push(...(await patchSegment(reader)));
  for (const { offset, bytes } of patches) await file.write(bytes, 0, bytes.length, offset);
  return patches.length > 0;
}

async function patchMoov(reader: SourceReader): Promise<Patch[]> {
  for await (const { type, content, end } of topLevelBoxes(reader, maxBoxes)) {
    if (type !== 'moov' || end - content > maxMoovBytes) continue;
    const moov = await reader.at(content, end - content);
    return [...hiddenEntries(moov)].map(({ offset, bytes }) => ({ offset: content + offset, bytes }));
  }
  return [];
}

// ISO/IEC 14496-12 section 12.2.3: each description of samples is a box whose type is the codec. Boxes that set up a decoder
// follow the number of channels and the rate; QuickTime has more fields in other versions.
const unknownCodec = Buffer.from('zzzz');
const versionAt = 8;
const setupAt = 28;

function* hiddenEntries(moov: Buffer): Generator<Patch> {
  for (const trak of boxesAt(moov, { content: 0, end: moov.length }, 'trak')) {
    if (handlerType(moov.subarray(trak.content, trak.end)) === 'vide') continue;
    for (const { content, end } of boxesAt(moov, trak, 'mdia', 'minf', 'stbl', 'stsd')) {
      for (const entry of boxesAt(moov, { content: content + 8, end })) {
        const bytes = Buffer.from(moov.subarray(entry.offset, entry.end));
        const fields = bytes.subarray(entry.content - entry.offset);
        unknownCodec.copy(bytes, 4);
        fields.subarray(versionAt, versionAt + 2).fill(0);
        fields.subarray(setupAt).fill(0);
        yield { offset: entry.offset, bytes };
      }
    }
  }
}

// RFC 9559 section 5.1.4.
const [tracksId, trackEntryId, codecId] = [0x1654ae6b, 0xae, 0x86];
const maxTracksBytes = 8 * 1024 * 1024;

async function patchSegment(reader: SourceReader): Promise<Patch[]> {
  for await (const { kind, offset, end } of matroskaElements(reader, maxBoxes)) {
    if (kind !== 'needed' || end - offset > maxTracksBytes) continue;
    const bytes = await reader.at(offset, end - offset);
    const codecs = elementsAt(bytes, { content: 0, end: bytes.length }, tracksId, trackEntryId, codecId);
    const hidden = [...codecs].filter(({ content }) => bytes.toString('latin1', content, content + 2) !== 'V_');
    // After the letter for the kind of track and an underscore.
    if (hidden.length > 0)
      return hidden.map(({ content }) => ({ offset: offset + content + 2, bytes: Buffer.from('?') }));
  }
  return [];
}
