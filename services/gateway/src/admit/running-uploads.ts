/** Counts what runs at once, by name. */
export class RunningUploads {
  readonly #limit: number;
  readonly #running = new Map<string, number>();

  /** `limit`: how many of one name may run at once. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a slot of `name`, which `held` gives back when it is disposed of; false where there is none left. */
  enter(name: string, held: DisposableStack): boolean {
    const running = this.#of(name);
    if (running >= this.#limit) return false;
    // First of all: a stack that was disposed of already throws.
    held.defer(() => this.#leave(name));
    this.#running.set(name, running + 1);
    return true;
  }

  #of(name: string): number {
    return this.#running.get(name) ?? 0;
  }

  #leave(name: string): void {
    const left = this.#of(name) - 1;
    if (left > 0) this.#running.set(name, left);
    else this.#running.delete(name);
  }
}
