import type { ColourCodes } from '../colour-codes.ts';
import type { VideoType } from '../detect-media-type.ts';
import { type EbmlElement, elementsAt } from '../input/ebml-elements.ts';
import { boxContents, childBoxes, readMoov } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { isoTracks } from './iso-tracks.ts';
import { readMatroskaTracks } from './matroska-elements.ts';
import { isoTypes } from './video-codecs.ts';

/** Colours with the matrix coefficients of ITU-T H.273. */
export interface ContainerColours extends ColourCodes {
  readonly matrix: number;
  readonly isFullRange: boolean;
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

async function readMoovColours(reader: SourceReader): Promise<readonly (ContainerColours | undefined)[]> {
  const moov = await readMoov(reader);
  return moov ? isoTracks(moov).map(({ descriptions }) => coloursOfEntry(descriptions)) : [];
}

function coloursOfEntry(stsd: Buffer): ContainerColours | undefined {
  const [entry] = childBoxes(stsd, 8);
  const colours = entry ? boxContents(stsd.subarray(entry.content, entry.end), 'colr', visualEntryBytes) : [];
  const numbers = colours.find((colr) => colr.length >= 10 && /^ncl[cx]/.test(colr.toString('latin1', 0, 4)));
  if (!numbers) return undefined;
  const [primaries = 2, transfer = 2, matrix = 2] = [4, 6, 8].map((at) => numbers.readUInt16BE(at));
  const isFullRange = numbers.toString('latin1', 0, 4) === 'nclx' && ((numbers[10] ?? 0) & 0x80) !== 0;
  return { primaries, transfer, matrix, isFullRange };
}

// RFC 9559 section 5.1.4.1.28.
const videoId = 0xe0;
const colourId = 0x55b0;
const matrixId = 0x55b1;
const rangeId = 0x55b9;
const transferId = 0x55ba;
const primariesId = 0x55bb;
const unspecified = 2;
const fullRange = 2;

async function readMatroskaColours(reader: SourceReader): Promise<readonly (ContainerColours | undefined)[]> {
  const { bytes, tracks } = await readMatroskaTracks(reader);
  return tracks.map((track) => {
    const [colour] = elementsAt(bytes, track, videoId, colourId);
    if (!colour) return undefined;
    const numberOf = (id: number) => readNumber(bytes, [...elementsAt(bytes, colour, id)][0]);
    const codeOf = (id: number) => numberOf(id) ?? unspecified;
    const codes = { primaries: codeOf(primariesId), transfer: codeOf(transferId), matrix: codeOf(matrixId) };
    return { ...codes, isFullRange: numberOf(rangeId) === fullRange };
  });
}

function readNumber(bytes: Buffer, element: EbmlElement | undefined): number | undefined {
  const length = element ? element.end - element.content : 0;
  return element && length >= 1 && length <= 6 ? bytes.readUIntBE(element.content, length) : undefined;
}
