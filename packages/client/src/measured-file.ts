import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';

/** Called while a file is being sent: bytes handed to the connection so far, and bytes of the whole file. */
export type Progress = (sent: number, total: number) => void;

/** A file that tells how far it has been read. */
class MeasuredFile extends File {
  readonly #progress: Progress;

  constructor(content: Blob, name: string, progress: Progress) {
    super([content], name);
    this.#progress = progress;
  }

  override stream(): ReturnType<File['stream']> {
    let sent = 0;
    const measure = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        sent += chunk.byteLength;
        this.#progress(sent, this.size);
        controller.enqueue(chunk);
      },
    });
    return super.stream().pipeThrough(measure);
  }
}

/**
 * The file at `path`, which stays on disk and is read as it is sent.
 * @throws the system's error when it cannot be read
 */
export async function measuredFile(path: string, progress: Progress): Promise<File> {
  await requireReadable(path);
  return new MeasuredFile(await openAsBlob(path), basename(path), progress);
}

// openAsBlob says of every trouble no more than that it could not.
async function requireReadable(path: string): Promise<void> {
  await using file = await open(path);
  await file.read({ buffer: Buffer.alloc(1) });
}
