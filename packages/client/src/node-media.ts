import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filenameOf, inMemory, type MediaSource, type OpenMedia } from './platform.ts';

/** A path, a `file:` URL, bytes, a Blob, or a stream of bytes. */
export type NodeMediaSource = string | URL | MediaSource | AsyncIterable<Uint8Array>;

/** Opens media for sending. Files are streamed. @throws the system's error if a file cannot be opened */
export async function openMedia(source: NodeMediaSource, filename: string | undefined): Promise<OpenMedia> {
  if (typeof source === 'string' || source instanceof URL) {
    const path = source instanceof URL ? fileURLToPath(source) : source;
    return { filename: filename ?? basename(path), content: await openFile(path) };
  }
  const name = filenameOf(source, filename);
  return { filename: name, content: inMemory(source) ?? (source as AsyncIterable<Uint8Array>) };
}

async function openFile(path: string): Promise<Blob> {
  // The errors of openAsBlob contain no reason.
  const probe = await open(path);
  try {
    await probe.read({ buffer: Buffer.alloc(1) });
  } finally {
    await probe.close();
  }
  return openAsBlob(path);
}
