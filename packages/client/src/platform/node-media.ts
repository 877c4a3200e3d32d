import { constants, openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { filenameOf, inMemory, type MediaSource, type OpenMedia } from './platform.ts';

/** A path, a `file:` URL, bytes, a Blob, or a stream of bytes. */
export type NodeMediaSource = string | URL | MediaSource | AsyncIterable<Uint8Array>;

/** Opens media for sending. Files are streamed. @throws the system's error if a file cannot be opened, or TypeError for anything else */
export async function openMedia(source: NodeMediaSource, filename: string | undefined): Promise<OpenMedia> {
  if (typeof source === 'string' || source instanceof URL) {
    const path = source instanceof URL ? fileURLToPath(source) : source;
    return { filename: filename ?? basename(path), content: await openFile(path) };
  }
  return { filename: filenameOf(source, filename), content: inMemory(source) ?? requireStream(source) };
}

function requireStream(source: unknown): AsyncIterable<Uint8Array> {
  // It may fail before it is read, and an error without a listener ends the process. Reading it then rejects with the error.
  if (source instanceof Readable) source.on('error', () => {});
  if (typeof source === 'object' && source !== null && Symbol.asyncIterator in source)
    return source as AsyncIterable<Uint8Array>;
  throw new TypeError('Media must be a path, a file: URL, bytes, a Blob, or a stream of bytes.');
}

/**
 * Opens a file as a Blob, which cannot be read after the file has changed. @throws the system's error if it cannot be opened, or TypeError if it is
 * no regular file, which may have no end
 */
export async function openFile(path: string): Promise<Blob> {
  // The errors of openAsBlob contain no reason.
  await requireFile(path);
  return openAsBlob(path);
}

async function requireFile(path: string): Promise<void> {
  // Without O_NONBLOCK, opening a named pipe waits for its writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const info = await file.stat();
    if (info.isDirectory()) throw new TypeError(`${path} is a directory. Pass the files in it.`);
    if (!info.isFile())
      throw new TypeError(
        `${path} is a pipe or device. Pass it as a stream, on the command line as standard input (-).`,
      );
  } finally {
    await file.close();
  }
}
