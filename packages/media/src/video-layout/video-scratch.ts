import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type IsoBox, mostBoxes, mostMoov, outerBoxes } from '../input/iso-boxes.ts';
import type { SourceReader } from '../input/source-reader.ts';
import type { VideoType } from '../media-type.ts';
import { flvTags, repeatedLengthBytes } from './flv-tags.ts';
import { matroskaParts, voidHeader } from './matroska-parts.ts';
import { oggPages } from './ogg-pages.ts';
import { pictureStart } from './picture-start.ts';
import { mostOfStream } from './video-codecs.ts';

/** A sparse file of the video's true length that holds the bytes which ffprobe needs; disposing removes it. */
export type VideoScratch = AsyncDisposable &
  ({ readonly outcome: 'laid out'; readonly path: string } | { readonly outcome: 'broken' | 'too_costly' });

type Outcome = 'laid out' | 'broken' | 'too_costly';

const chunkBytes = 1024 * 1024;
const headBytes = 1024 * 1024;
// Of 64 KiB each, as for a PNG; a long `moov` takes some of its own.
const mostReads = 192;
const mostElements = 64;
// Tracks carry the headers of their codecs, which are short.
const mostOfMatroska = 8 * 1024 * 1024;
const mostTags = 10_000;
const mostPages = 10_000;
const blockBytes = 256 * 1024;
const firstPicturesBytes = 512 * 1024;

/** Lays out the parts of a video under `scratchDir`. Rejects where a read or the disk fails; nothing is left then. */
export async function layOutVideo(reader: SourceReader, type: VideoType, scratchDir: string): Promise<VideoScratch> {
  const path = join(scratchDir, `video-${randomUUID()}`);
  const remove = () => rm(path, { force: true, recursive: true });
  try {
    await using file = await open(path, 'wx', 0o600);
    await file.truncate(reader.size);
    const outcome = await layOut[type](reader, file);
    return { outcome, path, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * MP4 and its kin say what they hold in one box, `moov`, which may stand before the pictures or after them: step from
 * box to box, from header to header, until it is found. A fragmented video has one at its beginning too. Where it stands
 * before the pictures, the next boxes are asked whether the video was cut off.
 */
async function layOutMoov(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  await write(file, reader.known, 0);
  let [found, pictures, boxes] = [false, false, 0];
  for await (const box of outerBoxes(reader, mostBoxes + 1)) {
    if (box.end > reader.size) return 'broken';
    boxes += 1;
    if (boxes > mostBoxes || isTooCostly(box, reader)) return 'too_costly';
    pictures ||= box.type === 'mdat' || box.type === 'moof';
    if (box.type === 'moov') {
      await copy(reader, file, box.offset, box.end);
      found = true;
    } else {
      await write(file, await reader.at(box.offset, box.content - box.offset), box.offset);
    }
    if (found && pictures) return 'laid out';
  }
  return found ? 'laid out' : 'broken';
}

function isTooCostly({ type, offset, end }: IsoBox, reader: SourceReader): boolean {
  return reader.reads > mostReads || (type === 'moov' && end - offset > mostMoov);
}

/**
 * Matroska says what it holds before its first pictures, but fonts and covers may stand there too: where they reach
 * beyond the head they are laid out as an element that means nothing, so that no demuxer searches zeros for what they hold.
 */
async function layOutMatroska(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  await layOutHead(reader, file);
  let copied = 0;
  for await (const { kind, offset, end } of matroskaParts(reader, mostElements)) {
    if (kind === 'pictures') {
      await copy(reader, file, Math.max(offset, headBytes), offset + firstPicturesBytes);
    } else if (end > headBytes && kind === 'needless') {
      await write(file, voidHeader(end - offset), offset);
    } else if (end > headBytes) {
      copied += end - offset;
      if (copied > mostOfMatroska) return 'too_costly';
      await copy(reader, file, offset, end);
    }
  }
  return 'laid out';
}

/**
 * A recording of a broadcast begins anywhere: nothing says what its pictures are until the first that needs no other,
 * which may be seconds away.
 */
async function layOutStream(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  let end = Math.min(mostOfStream, reader.size);
  let isFound = false;
  for (let at = 0; at < end; at += chunkBytes) {
    const bytes = await reader.at(at, Math.min(chunkBytes, end - at));
    await write(file, bytes, at);
    const start = isFound ? -1 : pictureStart(bytes);
    if (start < 0) continue;
    isFound = true;
    end = Math.min(end, at + chunkBytes * (start < chunkBytes / 2 ? 1 : 2));
  }
  return 'laid out';
}

/**
 * Flash Video says nothing of its pictures before the first of them, which may be long, or come after a minute of sound: step
 * from tag to tag until it is found. Behind what is laid out the file ends, so that no demuxer searches zeros for a tag.
 */
async function layOutTags(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  await layOutHead(reader, file);
  let [end, copied] = [headBytes, headBytes];
  const need = async (from: number, to: number) => {
    if (to <= end) return;
    const start = Math.max(from, end);
    end = Math.max(to, start + blockBytes);
    copied += end - start;
    await copy(reader, file, start, end);
  };
  for await (const tag of flvTags(reader, mostTags)) {
    await need(tag.offset - repeatedLengthBytes, tag.offset + 1);
    if (tag.isKeyframe) {
      await need(tag.offset, Math.min(tag.offset + firstPicturesBytes, tag.end));
      await need(tag.end - repeatedLengthBytes, tag.end);
    }
    if (tag.isKeyframe || copied >= mostOfStream) break;
  }
  await file.truncate(Math.min(end, reader.size));
  return 'laid out';
}

/**
 * ffmpeg takes no Ogg of which nothing behind the headers is whole, and a picture may fill many pages: all are needed up to
 * where the first ends.
 */
async function layOutPages(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  await layOutHead(reader, file);
  let pages = 0;
  for await (const page of oggPages(reader)) {
    pages += 1;
    if (pages > mostPages || page.end > mostOfStream) return 'too_costly';
    await copy(reader, file, Math.max(page.offset, headBytes), page.end);
    if (page.endsData) break;
  }
  return 'laid out';
}

async function layOutHead(reader: SourceReader, file: FileHandle): Promise<Outcome> {
  await copy(reader, file, 0, headBytes);
  return 'laid out';
}

const layOut: Record<VideoType, (reader: SourceReader, file: FileHandle) => Promise<Outcome>> = {
  mp4: layOutMoov,
  mov: layOutMoov,
  '3gp': layOutMoov,
  webm: layOutMatroska,
  mkv: layOutMatroska,
  avi: layOutHead,
  mpg: layOutStream,
  ts: layOutStream,
  ogv: layOutPages,
  flv: layOutTags,
  wmv: layOutHead,
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
