/** The first names in order. */
export class FirstNames {
  readonly #max: number;
  readonly #names: string[] = [];
  /** The last of the first names, once others were left out. */
  #last: string | undefined;
  #added = 0;

  /** @param max keeps at least so many, and at most twice as many */
  constructor(max: number) {
    this.#max = max;
  }

  /** Number of added names, kept or not. */
  get added(): number {
    return this.#added;
  }

  /** Whether no added name was left out. */
  get hasAll(): boolean {
    return this.#last === undefined;
  }

  add(name: string): void {
    this.#added += 1;
    if (this.#last !== undefined && name > this.#last) return;
    this.#names.push(name);
    if (this.#names.length <= 2 * this.#max) return;
    this.#names.sort();
    this.#names.length = this.#max;
    this.#last = this.#names.at(-1);
  }

  /** The first names in order, without a gap. */
  sorted(): readonly string[] {
    return this.#names.sort();
  }
}
