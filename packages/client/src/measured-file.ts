import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';

/** Called while a file is sent: bytes so far, and bytes of the whole file. */
export type Progress = (sent: number, total: number) => void;

/** A file that reports how far it has been read. */
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

/** A streamed file. @throws the system's error if it cannot be read */
export async function measuredFile(path: string, progress: Progress): Promise<File> {
  await requireReadable(path);
  return new MeasuredFile(await openAsBlob(path), basename(path), progress);
}

// The errors of openAsBlob contain no reason.
async function requireReadable(path: string): Promise<void> {
  await using file = await open(path);
  await file.read({ buffer: Buffer.alloc(1) });
}
