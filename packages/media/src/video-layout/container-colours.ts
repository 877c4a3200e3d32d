import type { ColourCodes } from '../colour-codes.ts';
import type { VideoType } from '../detect-media-type.ts';
import { type EbmlElement, elementsAt } from '../input/ebml-elements.ts';
import { boxContents, childBoxes, readBoxesAt } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { readMatroskaTracks } from './matroska-elements.ts';
import { isoTypes, maxTracks } from './video-codecs.ts';

/** With the matrix coefficients of ITU-T H.273. */
export interface ContainerColours extends ColourCodes {
  readonly matrix: number;
}

/**
 * The colours that a container states for its tracks, in their order; undefined for a track without. ffprobe shows them only if
 * the decoder knows none: one that is unspecified hides them.
 */
export async function readContainerColours(
  reader: SourceReader,
  type: VideoType,
): Promise<readonly (ContainerColours | undefined)[]> {
  if (isoTypes.includes(type)) return readMoovColours(reader);
  return type === 'mkv' || type === 'webm' ? readMatroskaColours(reader) : [];
}

// ISO/IEC 14496-12 section 12.1.5, after the fields of a visual sample entry. QuickTime has `nclc`, without the range.
const visualEntryBytes = 78;
const maxDescriptionBytes = 64 * 1024;

async function readMoovColours(reader: SourceReader): Promise<readonly (ContainerColours | undefined)[]> {
  const tracks: (ContainerColours | undefined)[] = [];
  for await (const trak of readBoxesAt(reader, { content: 0, end: reader.size }, 'moov', 'trak')) {
    if (tracks.length >= maxTracks) break;
    let colours: ContainerColours | undefined;
    for await (const { content, end } of readBoxesAt(reader, trak, 'mdia', 'minf', 'stbl', 'stsd')) {
      colours ??= coloursOfEntry(await reader.at(content, Math.min(end - content, maxDescriptionBytes)));
    }
    tracks.push(colours);
  }
  return tracks;
}

function coloursOfEntry(stsd: Buffer): ContainerColours | undefined {
  const [entry] = [...childBoxes(stsd, 8)].map(({ content, end }) => stsd.subarray(content, end));
  const colours = entry ? boxContents(entry, 'colr', visualEntryBytes) : [];
  const numbers = colours.find((colr) => colr.length >= 10 && /^ncl[cx]/.test(colr.toString('latin1', 0, 4)));
  if (!numbers) return undefined;
  const [primaries = 2, transfer = 2, matrix = 2] = [4, 6, 8].map((at) => numbers.readUInt16BE(at));
  return { primaries, transfer, matrix };
}

// RFC 9559 section 5.1.4.1.28.
const [videoId, colourId, matrixId, transferId, primariesId] = [0xe0, 0x55b0, 0x55b1, 0x55ba, 0x55bb];

async function readMatroskaColours(reader: SourceReader): Promise<readonly (ContainerColours | undefined)[]> {
  const { bytes, tracks } = await readMatroskaTracks(reader);
  return tracks.map((track) => {
    const [colour] = elementsAt(bytes, track, videoId, colourId);
    if (!colour) return undefined;
    const numberOf = (id: number) => readNumber(bytes, [...elementsAt(bytes, colour, id)][0]);
    return { primaries: numberOf(primariesId), transfer: numberOf(transferId), matrix: numberOf(matrixId) };
  });
}

// 2: unspecified.
function readNumber(bytes: Buffer, element: EbmlElement | undefined): number {
  const length = element ? element.end - element.content : 0;
  return element && length >= 1 && length <= 6 ? bytes.readUIntBE(element.content, length) : 2;
}
