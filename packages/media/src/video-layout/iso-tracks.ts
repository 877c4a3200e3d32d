import { type IsoBox, readBoxes, topLevelBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { maxTracks } from './video-codecs.ts';

/** A track of an MP4, QuickTime or 3GP file. */
export interface IsoTrack {
  /** Such as `vide`; empty if unknown. */
  readonly handler: string;
  /** The content of its sample descriptions (`stsd`), at most 1 MiB; empty if there are none. */
  readonly descriptions: Buffer;
  /** Their offset in the file. */
  readonly offset: number;
}

const maxDescriptionBytes = 1024 * 1024;
// Tracks have some thirty boxes; a hostile file has millions.
const maxHeaders = 16 * 1024;
const nowhere = { content: 0, end: 0 };

/** Reads the tracks of the first directory, at most 64. Only headers and descriptions are read: a directory may have 64 MiB. */
export async function readIsoTracks(reader: SourceReader): Promise<readonly IsoTrack[]> {
  const headers = { left: maxHeaders };
  const first = async (within: Pick<IsoBox, 'content' | 'end'>, ...path: readonly string[]) => {
    let box: Pick<IsoBox, 'content' | 'end'> | undefined = within;
    for (const type of path) box = box && (await firstBox(reader, box, type, headers));
    return box;
  };
  const moov = await firstMoov(reader);
  const tracks: IsoTrack[] = [];
  if (!moov) return tracks;
  for await (const trak of readBoxes(reader, moov, headers)) {
    if (trak.type !== 'trak') continue;
    if (tracks.length === maxTracks) break;
    const media = (await first(trak, 'mdia')) ?? nowhere;
    const handler = await first(media, 'hdlr');
    const { content: offset, end } = (await first(media, 'minf', 'stbl', 'stsd')) ?? nowhere;
    tracks.push({
      handler: handler ? (await reader.at(handler.content + 8, 4)).toString('latin1') : '',
      descriptions: await reader.at(offset, Math.min(end - offset, maxDescriptionBytes)),
      offset,
    });
  }
  return tracks;
}

async function firstMoov(reader: SourceReader): Promise<IsoBox | undefined> {
  for await (const box of topLevelBoxes(reader, maxHeaders)) if (box.type === 'moov') return box;
  return undefined;
}

async function firstBox(
  reader: SourceReader,
  within: Pick<IsoBox, 'content' | 'end'>,
  type: string,
  headers: { left: number },
): Promise<IsoBox | undefined> {
  for await (const box of readBoxes(reader, within, headers)) if (box.type === type) return box;
  return undefined;
}
