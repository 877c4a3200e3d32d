import { open } from 'node:fs/promises';
import type { VideoType } from '../detect-media-type.ts';
import { elementsAt } from '../input/ebml-elements.ts';
import { fileReader } from '../input/inspect-file.ts';
import { childBoxes, type IsoBox, readBoxesAt } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { readMatroskaTracks } from './matroska-elements.ts';
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

// ISO/IEC 14496-12 section 12.2.3: each description of samples is a box whose type is the codec. Boxes that set up a decoder
// follow the number of channels and the rate; QuickTime has more fields in other versions.
const unknownCodec = Buffer.from('zzzz');
const versionAt = 8;
const setupAt = 28;

const maxDescriptionBytes = 1024 * 1024;

async function patchMoov(reader: SourceReader): Promise<Patch[]> {
  const patches: Patch[] = [];
  for await (const trak of readBoxesAt(reader, { content: 0, end: reader.size }, 'moov', 'trak')) {
    if (await isOfPictures(reader, trak)) continue;
    for await (const { content, end } of readBoxesAt(reader, trak, 'mdia', 'minf', 'stbl', 'stsd')) {
      const stsd = await reader.at(content, Math.min(end - content, maxDescriptionBytes));
      for (const entry of childBoxes(stsd, 8)) patches.push(hideEntry(stsd, entry, content));
    }
  }
  return patches;
}

async function isOfPictures(reader: SourceReader, trak: IsoBox): Promise<boolean> {
  for await (const { content } of readBoxesAt(reader, trak, 'mdia', 'hdlr')) {
    return (await reader.at(content + 8, 4)).toString('latin1') === 'vide';
  }
  return false;
}

function hideEntry(stsd: Buffer, { offset, content, end }: IsoBox, stsdOffset: number): Patch {
  const bytes = Buffer.from(stsd.subarray(offset, end));
  const fields = bytes.subarray(content - offset);
  unknownCodec.copy(bytes, 4);
  fields.subarray(versionAt, versionAt + 2).fill(0);
  fields.subarray(setupAt).fill(0);
  return { offset: stsdOffset + offset, bytes };
}

// RFC 9559 section 5.1.4.1.21. After the letter for the kind of track and an underscore.
const codecId = 0x86;

async function patchSegment(reader: SourceReader): Promise<Patch[]> {
  const { bytes, offset, tracks } = await readMatroskaTracks(reader);
  return tracks
    .flatMap((track) => [...elementsAt(bytes, track, codecId)])
    .filter(({ content }) => bytes.toString('latin1', content, content + 2) !== 'V_')
    .map(({ content }) => ({ offset: offset + content + 2, bytes: Buffer.from('?') }));
}
