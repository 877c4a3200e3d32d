const namesPerBlock = 512;
// No name of a file contains this character.
const separator = '\0';
// When there are twice as many names as wanted, only the first ones stay.
const runsPerMax = 2;

/** Sorts names of files, and keeps the first ones. Keeps sorted runs as text, which takes a third of the memory of strings, and merges them at the end. */
export class FirstNames {
  readonly #max: number;
  readonly #namesPerRun: number;
  #runs: Buffer[][] = [];
  #names: string[] = [];
  #last: string | undefined;
  #added = 0;

  /** @param max keeps at least so many, and at most twice as many */
  constructor(max: number) {
    this.#max = max;
    this.#namesPerRun = Math.ceil(max / runsPerMax);
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
    if (this.#names.length < this.#namesPerRun) return;
    this.#endRun();
    if (this.#runs.length === 2 * runsPerMax) this.#cut();
  }

  /** Ends the current run. @returns the first names in order, without a gap */
  *sorted(): Generator<string> {
    if (this.#runs.length > 0) this.#endRun();
    const runs = this.#runs.map(namesIn);
    const next = runs.map((run) => run.next().value);
    for (let first = indexOfFirst(next); first !== undefined; first = indexOfFirst(next)) {
      yield next[first] ?? '';
      next[first] = runs[first]?.next().value;
    }
    yield* this.#names.sort();
  }

  #endRun(): void {
    this.#runs.push(asText(this.#names.sort()));
    this.#names = [];
  }

  #cut(): void {
    const first = this.sorted().take(this.#max).toArray();
    this.#runs = [asText(first)];
    this.#last = first.at(-1);
  }
}

function asText(names: readonly string[]): Buffer[] {
  const blocks: Buffer[] = [];
  for (let n = 0; n < names.length; n += namesPerBlock)
    blocks.push(Buffer.from(names.slice(n, n + namesPerBlock).join(separator)));
  return blocks;
}

function* namesIn(blocks: readonly Buffer[]): Generator<string, undefined> {
  for (const block of blocks) yield* block.toString().split(separator);
}

/** Where the first name in order is; undefined if there are none. */
function indexOfFirst(names: readonly (string | undefined)[]): number | undefined {
  let first: number | undefined;
  for (const [n, name] of names.entries())
    if (name !== undefined && (first === undefined || name < (names[first] ?? ''))) first = n;
  return first;
}
