import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';

/** Called while a file is sent: bytes so far, and bytes of the whole file. */
export type Progress = (sent: number, total: number) => void;

/** A streamed file that reports how far it has been read. @throws the system's error if it cannot be read */
export async function measuredFile(path: string, progress: Progress): Promise<File> {
  // The errors of openAsBlob contain no reason.
  await using probe = await open(path);
  await probe.read({ buffer: Buffer.alloc(1) });
  const content = await openAsBlob(path);
  const stream = () => {
    let sent = 0;
    const measure = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        sent += chunk.byteLength;
        progress(sent, content.size);
        controller.enqueue(chunk);
      },
    });
    return content.stream().pipeThrough(measure);
  };
  return Object.assign(new File([content], basename(path)), { stream });
}
