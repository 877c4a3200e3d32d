import type { VideoType } from '../detect-media-type.ts';
import { type EbmlElement, elementsAt } from '../input/ebml-elements.ts';
import { boxContents, childBoxes, maxBoxes, readBoxesAt } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { matroskaElements } from './matroska-elements.ts';
import { isoTypes, maxTracks } from './video-codecs.ts';

/** Colours as numbers of ITU-T H.273. */
export interface ContainerColours {
  readonly primaries: number;
  readonly transfer: number;
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
const [tracksId, trackEntryId, videoId, colourId] = [0x1654ae6b, 0xae, 0xe0, 0x55b0];
const [matrixId, transferId, primariesId] = [0x55b1, 0x55ba, 0x55bb];
const maxTracksBytes = 8 * 1024 * 1024;

async function readMatroskaColours(reader: SourceReader): Promise<readonly (ContainerColours | undefined)[]> {
  for await (const { kind, offset, end } of matroskaElements(reader, maxBoxes)) {
    if (kind !== 'needed' || end - offset > maxTracksBytes) continue;
    const bytes = await reader.at(offset, end - offset);
    const tracks = [...elementsAt(bytes, { content: 0, end: bytes.length }, tracksId, trackEntryId)];
    if (tracks.length === 0) continue;
    return tracks.map((track) => {
      const [colour] = elementsAt(bytes, track, videoId, colourId);
      const numberOf = (id: number) => (colour ? readNumber(bytes, [...elementsAt(bytes, colour, id)][0]) : 2);
      return colour && { primaries: numberOf(primariesId), transfer: numberOf(transferId), matrix: numberOf(matrixId) };
    });
  }
  return [];
}

function readNumber(bytes: Buffer, element: EbmlElement | undefined): number {
  const length = element ? element.end - element.content : 0;
  return element && length >= 1 && length <= 6 ? bytes.readUIntBE(element.content, length) : 2;
}
