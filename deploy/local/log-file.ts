import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const usualMaxBytes = 10 * 2 ** 20;

/**
 * A log to which lines are added until it has `maxBytes`. A full one is renamed to `<file>.1`, in place of the one before, so the newest lines
 * are always in these two files. Who reads it while it grows needs `tail -F`.
 */
export class LogFile implements Disposable {
  readonly #file: string;
  readonly #maxBytes: number;
  #descriptor: number;
  #bytes: number;

  constructor(file: string, maxBytes = usualMaxBytes) {
    this.#file = file;
    this.#maxBytes = maxBytes;
    this.#descriptor = openSync(file, 'a');
    this.#bytes = fstatSync(this.#descriptor).size;
  }

  /** @throws the disk's error */
  write(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    if (this.#bytes + bytes.length > this.#maxBytes) this.#rotate();
    this.#bytes += writeSync(this.#descriptor, bytes);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #rotate(): void {
    renameSync(this.#file, `${this.#file}.1`);
    const next = openSync(this.#file, 'a');
    closeSync(this.#descriptor);
    this.#descriptor = next;
    this.#bytes = 0;
  }
}
