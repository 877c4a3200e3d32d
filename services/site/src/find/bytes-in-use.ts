const maxBytes = 32 * 1024 * 1024;

/** Limits the memory of objects that responses share while they send them, each object counted once. */
export class BytesInUse {
  readonly #users = new Map<string, number>();
  #bytes = 0;

  /** Counts a user of an object, until the function that it returns is called. Undefined if too many bytes are in use. */
  enter(key: string, size: number): (() => void) | undefined {
    const users = this.#users.get(key) ?? 0;
    if (users === 0 && this.#bytes + size > maxBytes) return undefined;
    if (users === 0) this.#bytes += size;
    this.#users.set(key, users + 1);
    return () => this.#leave(key, size);
  }

  #leave(key: string, size: number): void {
    const users = (this.#users.get(key) ?? 0) - 1;
    if (users > 0) return void this.#users.set(key, users);
    this.#users.delete(key);
    this.#bytes -= size;
  }
}
