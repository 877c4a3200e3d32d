import { type IsoBox, readBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { OutputRefused, openToolOutput } from '../sandbox/tool-output.ts';

/** Boxes by their name: all of their content is kept, or these boxes in it. */
interface Boxes {
  readonly [name: string]: 'kept' | Boxes;
}

// What players need, as ffmpeg writes it (ISO/IEC 14496-12 and 14496-15). Others may carry text or numbers of the source,
// which are stream side data in ffmpeg: -map_metadata does not remove those.
const sampleTable: Boxes = {
  stsd: {
    avc1: { avcC: 'kept', 'colr nclx': 'kept', pasp: 'kept', btrt: 'kept' },
    mp4a: { esds: 'kept', btrt: 'kept' },
  },
  stts: 'kept',
  stss: 'kept',
  sdtp: 'kept',
  ctts: 'kept',
  stsc: 'kept',
  stsz: 'kept',
  stco: 'kept',
  co64: 'kept',
  sgpd: 'kept',
  sbgp: 'kept',
};
const media: Boxes = { vmhd: 'kept', smhd: 'kept', dinf: 'kept', stbl: sampleTable };
const track: Boxes = { tkhd: 'kept', edts: 'kept', mdia: { mdhd: 'kept', hdlr: 'kept', minf: media } };
const publishedBoxes: Boxes = { ftyp: 'kept', mdat: 'kept', moov: { mvhd: 'kept', trak: track } };

// Fields before the boxes within: a version and a count, or a sample entry (ISO/IEC 14496-12 sections 12.1.3 and 12.2.3).
const fieldBytes: Readonly<Record<string, number>> = { stsd: 8, avc1: 78, mp4a: 28 };

// An MP4 of two tracks has some sixty.
const maxHeaders = 1024;

/**
 * Turns every box of an MP4 from ffmpeg that players do not need into empty space (`free`, zeros), in place: ICC profiles,
 * values of displays and of the surroundings, tags, and whatever other versions of ffmpeg take over from the source.
 * @throws OutputRefused if the file is not made of boxes throughout
 */
export async function clearOtherBoxes(path: string): Promise<void> {
  await using video = await openToolOutput(path, 'mp4', 'change');
  const { reader, overwrite } = video;
  const file = { content: 0, end: reader.size };
  const others = await Array.fromAsync(otherBoxes(path, reader, file, publishedBoxes, { left: maxHeaders }));
  for (const { offset, content, end } of others) {
    await overwrite(Buffer.from('free'), offset + 4);
    for (let at = content; at < end; at += zeros.length) await overwrite(zeros.subarray(0, end - at), at);
  }
}

const zeros = Buffer.alloc(64 * 1024);

async function* otherBoxes(
  path: string,
  reader: SourceReader,
  within: Pick<IsoBox, 'content' | 'end'>,
  kept: Boxes,
  headers: { left: number },
): AsyncGenerator<IsoBox> {
  let end = within.content;
  for await (const box of readBoxes(reader, within, headers)) {
    end = box.end;
    const content = kept[await nameOf(reader, box)];
    const inner = { content: box.content + (fieldBytes[box.type] ?? 0), end: box.end };
    if (content === undefined) yield box;
    else if (content !== 'kept') yield* otherBoxes(path, reader, inner, content, headers);
  }
  if (end !== within.end) throw new OutputRefused(path, 'wrong_format');
}

/** The type of a box; of colours, also how they are stated: by numbers (`nclx`) or a profile. */
async function nameOf(reader: SourceReader, { type, content }: IsoBox): Promise<string> {
  return type === 'colr' ? `colr ${(await reader.at(content, 4)).toString('latin1')}` : type;
}
