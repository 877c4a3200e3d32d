import type { StoredObject } from '@echodrop/object-store/object-store';

const maxBytes = 32 * 1024 * 1024;

/** Limits the memory of objects that responses share while they send them, each object counted once. */
export class BytesInUse {
  readonly #users = new Map<string, number>();
  #bytes = 0;

  /** Counts a user of an object, until the function that it returns is called. Undefined if too many bytes are in use. */
  enter({ key, etag, size }: Pick<StoredObject, 'key' | 'etag' | 'size'>): (() => void) | undefined {
    // While an object is replaced, both versions are in use, each with its size.
    const version = `${etag} ${key}`;
    const users = this.#users.get(version) ?? 0;
    if (users === 0 && this.#bytes + size > maxBytes) return undefined;
    if (users === 0) this.#bytes += size;
    this.#users.set(version, users + 1);
    return () => this.#leave(version, size);
  }

  #leave(version: string, size: number): void {
    const users = (this.#users.get(version) ?? 0) - 1;
    if (users > 0) return void this.#users.set(version, users);
    this.#users.delete(version);
    this.#bytes -= size;
  }
}
