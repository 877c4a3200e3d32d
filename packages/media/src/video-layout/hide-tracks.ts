import { open } from 'node:fs/promises';
import type { VideoType } from '../detect-media-type.ts';
import { elementsAt } from '../input/ebml-elements.ts';
import { fileReader } from '../input/inspect-file.ts';
import { childBoxes, findMoov, type IsoBox } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { isoTracks } from './iso-tracks.ts';
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
  const isMatroska = type === 'mkv' || type === 'webm';
  if (!isMatroska && !isoTypes.includes(type)) return false;
  const patches = isMatroska ? await patchSegment(reader) : await patchMoov(reader);
  for (const { offset, bytes } of patches) await file.write(bytes, 0, bytes.length, offset);
  return patches.length > 0;
}

// ISO/IEC 14496-12 section 12.2.3: each description of samples is a box whose type is the codec. Boxes that set up a decoder
// follow the number of channels and the rate; QuickTime has more fields in other versions.
const unknownCodec = Buffer.from('zzzz');
const versionAt = 8;
const setupAt = 28;

async function patchMoov(reader: SourceReader): Promise<Patch[]> {
  const moov = await findMoov(reader);
  const bytes = moov && (await reader.at(moov.content, moov.end - moov.content));
  const others = bytes ? isoTracks(bytes).filter(({ handler }) => handler !== 'vide') : [];
  for (const { descriptions } of others) {
    for (const entry of childBoxes(descriptions, 8)) hideEntry(descriptions, entry);
  }
  return moov && bytes && others.length > 0 ? [{ offset: moov.content, bytes }] : [];
}

function hideEntry(stsd: Buffer, { offset, content, end }: IsoBox): void {
  unknownCodec.copy(stsd, offset + 4);
  const fields = stsd.subarray(content, end);
  fields.subarray(versionAt, versionAt + 2).fill(0);
  fields.subarray(setupAt).fill(0);
}

// RFC 9559 section 5.1.4.1.21. After the letter for the kind of track and an underscore.
const codecId = 0x86;

async function patchSegment(reader: SourceReader): Promise<Patch[]> {
  const { bytes, offset, tracks } = await readMatroskaTracks(reader);
  return tracks
    .flatMap((track) => elementsAt(bytes, track, codecId).take(1).toArray())
    .filter(({ content }) => bytes.toString('latin1', content, content + 2) !== 'V_')
    .map(({ content }) => ({ offset: offset + content + 2, bytes: Buffer.from('?') }));
}
