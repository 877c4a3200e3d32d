import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { VideoType } from '../detect-media-type.ts';
import { type IsoBox, maxBoxes, maxMoovBytes, topLevelBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import { flvTags, trailerBytes } from './flv-tags.ts';
import { matroskaElements, voidHeader } from './matroska-elements.ts';
import { oggPages } from './ogg-pages.ts';
import { maxStreamBytes } from './video-codecs.ts';

/** A sparse file of the video's size with only the bytes that ffprobe needs. Disposing removes it. */
type SparseCopy = AsyncDisposable &
  ({ readonly outcome: 'copied'; readonly path: string } | { readonly outcome: 'broken' | 'too_costly' });

type Outcome = SparseCopy['outcome'];

const chunkBytes = 1024 * 1024;
const headBytes = 1024 * 1024;
// A read has 64 KiB. A long `moov` takes more reads.
const maxReads = 192;
const maxElements = 64;
// Matroska tracks include the headers of their codecs, which are short.
const maxMatroskaBytes = 8 * 1024 * 1024;
const maxTags = 10_000;
const maxPages = 10_000;
const blockBytes = 256 * 1024;
const firstPicturesBytes = 512 * 1024;

/** Creates the copy in `scratchDir`. @throws if a read or the disk fails, and leaves no file then */
export async function createSparseCopy(reader: SourceReader, type: VideoType, scratchDir: string): Promise<SparseCopy> {
  const path = join(scratchDir, `video-${randomUUID()}`);
  const remove = () => rm(path, { force: true, recursive: true });
  try {
    await using file = await open(path, 'wx', 0o600);
    await file.truncate(reader.size);
    const outcome = await copiers[type](reader, file);
    return { outcome, path, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

// MP4 and its relatives describe everything in one box, `moov`, before or after the pictures: this steps over box headers
// until it is found. A fragmented video has one at its beginning. If it comes first, the following boxes show whether the
// video is truncated.
async function copyMoov(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  await write(file, reader.head, 0);
  let hasMoov = false;
  let hasPictures = false;
  let boxes = 0;
  for await (const box of topLevelBoxes(reader, maxBoxes + 1)) {
    if (box.end > reader.size) return 'broken';
    boxes += 1;
    if (boxes > maxBoxes || isTooCostly(box, reader)) return 'too_costly';
    hasPictures ||= box.type === 'mdat' || box.type === 'moof';
    if (box.type === 'moov') {
      await copy(reader, file, box.offset, box.end);
      hasMoov = true;
    } else {
      await write(file, await reader.at(box.offset, box.content - box.offset), box.offset);
    }
    if (hasMoov && hasPictures) return 'copied';
  }
  return hasMoov ? 'copied' : 'broken';
}

function isTooCostly({ type, offset, end }: IsoBox, reader: SourceReader): boolean {
  return reader.reads > maxReads || (type === 'moov' && end - offset > maxMoovBytes);
}

// Matroska describes its tracks before the first pictures. Fonts and covers may come before them too: beyond the head, those
// become Void elements, so that no demuxer searches zeros for their content.
async function copyMatroska(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  await copyHead(reader, file);
  let copied = 0;
  for await (const { kind, offset, end } of matroskaElements(reader, maxElements)) {
    if (kind === 'pictures') {
      await copy(reader, file, Math.max(offset, headBytes), offset + firstPicturesBytes);
    } else if (end > headBytes && kind === 'unneeded') {
      await write(file, voidHeader(end - offset), offset);
    } else if (end > headBytes) {
      copied += end - offset;
      if (copied > maxMatroskaBytes) return 'too_costly';
      await copy(reader, file, offset, end);
    }
  }
  return 'copied';
}

// A recording of a broadcast starts anywhere: only its first keyframe, which may be seconds away, describes the pictures.
async function copyStream(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  let end = Math.min(maxStreamBytes, reader.size);
  let isFound = false;
  for (let at = 0; at < end; at += chunkBytes) {
    const bytes = await reader.at(at, Math.min(chunkBytes, end - at));
    await write(file, bytes, at);
    const start = isFound ? -1 : findSequenceHeader(bytes);
    if (start < 0) continue;
    isFound = true;
    end = Math.min(end, at + chunkBytes * (start < chunkBytes / 2 ? 1 : 2));
  }
  return 'copied';
}

const startCode = Buffer.from([0, 0, 1]);

/**
 * The offset in a part of an MPEG stream at which decoding can start: a sequence header of MPEG-1 or MPEG-2, or a sequence
 * parameter set of H.264 or HEVC. -1 if there is none that is certain.
 */
export function findSequenceHeader(bytes: Buffer): number {
  for (let at = bytes.indexOf(startCode); at >= 0; at = bytes.indexOf(startCode, at + 3)) {
    const [unit = 0, first = 0, second = 0] = bytes.subarray(at + 3, at + 6);
    if (unit === 0xb3 || isH264(unit, first, second) || (unit === 0x42 && first === 1)) return at;
  }
  return -1;
}

// The same bytes start slices of MPEG-2 pictures more than 600 lines high, so this checks profile and flags too (ITU-T H.264
// section 7.3.2.1.1 and annex A).
const profiles = [66, 77, 88, 100, 110, 122, 244];
function isH264(unit: number, profile: number, flags: number): boolean {
  return [0x27, 0x47, 0x67].includes(unit) && profiles.includes(profile) && (flags & 3) === 0;
}

// Flash Video describes its pictures in the first of them, which may be large, or follow a minute of sound. The copy ends
// after it, so that no demuxer searches zeros for a tag.
async function copyTags(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  await copyHead(reader, file);
  let end = headBytes;
  let copied = headBytes;
  const copyUpTo = async (from: number, to: number) => {
    if (to <= end) return;
    const start = Math.max(from, end);
    end = Math.max(to, start + blockBytes);
    copied += end - start;
    await copy(reader, file, start, end);
  };
  for await (const tag of flvTags(reader, maxTags)) {
    await copyUpTo(tag.offset - trailerBytes, tag.offset + 1);
    if (tag.isKeyframe) {
      await copyUpTo(tag.offset, Math.min(tag.offset + firstPicturesBytes, tag.end));
      await copyUpTo(tag.end - trailerBytes, tag.end);
    }
    if (tag.isKeyframe || copied >= maxStreamBytes) break;
  }
  await file.truncate(Math.min(end, reader.size));
  return 'copied';
}

// ffmpeg rejects an Ogg without a complete packet after the headers, and a picture may fill many pages.
async function copyPages(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  await copyHead(reader, file);
  let pages = 0;
  for await (const page of oggPages(reader)) {
    pages += 1;
    if (pages > maxPages || page.end > maxStreamBytes) return 'too_costly';
    await copy(reader, file, Math.max(page.offset, headBytes), page.end);
    if (page.endsData) break;
  }
  return 'copied';
}

async function copyHead(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  await copy(reader, file, 0, headBytes);
  return 'copied';
}

const copiers: Record<VideoType, (reader: SourceReader, file: FileHandle) => Promise<Outcome>> = {
  mp4: copyMoov,
  mov: copyMoov,
  '3gp': copyMoov,
  webm: copyMatroska,
  mkv: copyMatroska,
  avi: copyHead,
  mpg: copyStream,
  ts: copyStream,
  ogv: copyPages,
  flv: copyTags,
  wmv: copyHead,
};

async function copy(reader: SourceReader, file: FileHandle, start: number, end: number): Promise<void> {
  for (let at = start; at < Math.min(end, reader.size); at += chunkBytes) {
    await write(file, await reader.at(at, Math.min(chunkBytes, end - at)), at);
  }
}

async function write(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  const { bytesWritten } = await file.write(bytes, 0, bytes.length, position);
  if (bytesWritten !== bytes.length) throw new Error('the scratch directory is full');
}
