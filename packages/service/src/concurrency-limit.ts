/** Limits what runs at once, by name. */
export class ConcurrencyLimit {
  readonly #limit: number;
  readonly #running = new Map<string, number>();

  /** `limit`: for each name. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a place of `name`, which disposing of `held` releases; false if there is none left. */
  acquire(name: string, held: DisposableStack): boolean {
    const running = this.#running.get(name) ?? 0;
    if (running >= this.#limit) return false;
    // First, since a disposed stack throws.
    held.defer(() => this.#release(name));
    this.#running.set(name, running + 1);
    return true;
  }

  #release(name: string): void {
    const remaining = (this.#running.get(name) ?? 0) - 1;
    if (remaining > 0) this.#running.set(name, remaining);
    else this.#running.delete(name);
  }
}
