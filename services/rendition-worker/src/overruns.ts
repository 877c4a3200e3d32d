const keptMs = 5 * 60_000;

/** Owners whose video passed its time limit in a lane within five minutes. Their next ones do not start in it: files may lie about their cost. */
export class Overruns {
  /** When each owner is forgotten, in this order. */
  readonly #until = new Map<string, number>();

  note(owner = 'unknown'): void {
    this.#until.delete(owner);
    this.#until.set(owner, performance.now() + keptMs);
  }

  has(owner = 'unknown'): boolean {
    for (const [each, until] of this.#until) {
      if (until > performance.now()) break;
      this.#until.delete(each);
    }
    return this.#until.has(owner);
  }
}
