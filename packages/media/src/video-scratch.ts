import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { outerBoxes } from './iso-boxes.ts';
import type { VideoType } from './media-type.ts';
import type { SourceReader } from './source-reader.ts';

/** A sparse file of the film's true length that holds the bytes which ffprobe needs; disposing removes it. */
export type VideoScratch = AsyncDisposable &
  ({ readonly outcome: 'laid out'; readonly path: string } | { readonly outcome: 'broken' | 'too_costly' });

const chunkBytes = 1024 * 1024;
const headBytes = 1024 * 1024;
const mostBoxes = 64;
// Ten hours of film have some 20 MiB.
const mostMoov = 64 * 1024 * 1024;

/** Lays out the parts of a film under `scratchDir`. Rejects where a read or the disk fails; nothing is left then. */
export async function layOutVideo(reader: SourceReader, type: VideoType, scratchDir: string): Promise<VideoScratch> {
  const path = join(scratchDir, `film-${randomUUID()}`);
  const remove = () => rm(path, { force: true });
  try {
    await using file = await open(path, 'wx', 0o600);
    await file.truncate(reader.size);
    const outcome = isIso(type) ? await layOutMoov(reader, file) : await copy(reader, file, 0, headBytes);
    return { outcome, path, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function isIso(type: VideoType): boolean {
  return type === 'mp4' || type === 'mov' || type === '3gp';
}

/**
 * MP4 and its kin say what they hold in one box, `moov`, which may stand before the pictures or after them: step from
 * box to box, from header to header, until it is found. A fragmented film has one at its beginning too. Where it stands
 * before the pictures, the next boxes are asked whether the film was cut off.
 */
async function layOutMoov(reader: SourceReader, file: FileHandle): Promise<'laid out' | 'broken' | 'too_costly'> {
  await write(file, reader.known, 0);
  let found = false;
  let pictures = false;
  for await (const box of outerBoxes(reader, mostBoxes)) {
    if (box.end > reader.size) return 'broken';
    pictures ||= box.type === 'mdat' || box.type === 'moof';
    if (box.type === 'moov') {
      if (box.end - box.offset > mostMoov) return 'too_costly';
      await copy(reader, file, box.offset, box.end);
      found = true;
    } else {
      await write(file, await reader.at(box.offset, box.content - box.offset), box.offset);
    }
    if (found && pictures) return 'laid out';
  }
  return found ? 'laid out' : 'broken';
}

async function copy(reader: SourceReader, file: FileHandle, start: number, end: number): Promise<'laid out'> {
  for (let at = start; at < Math.min(end, reader.size); at += chunkBytes) {
    await write(file, await reader.at(at, Math.min(chunkBytes, end - at)), at);
  }
  return 'laid out';
}

async function write(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  const { bytesWritten } = await file.write(bytes, 0, bytes.length, position);
  if (bytesWritten !== bytes.length) throw new Error('the scratch directory is full');
}
