const namesPerRun = 100_000;
const namesPerBlock = 512;
// No name of a file has it.
const separator = '\0';

/** Sorts names of files: in runs that are kept as text, a third of the memory of strings, and merged at the end. */
export class NameRuns {
  readonly #perRun: number;
  readonly #runs: Buffer[][] = [];
  #names: string[] = [];

  constructor(perRun = namesPerRun) {
    this.#perRun = perRun;
  }

  add(name: string): void {
    this.#names.push(name);
    if (this.#names.length === this.#perRun) this.#endRun();
  }

  /** All names in order, once. */
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
    const blocks: Buffer[] = [];
    const sorted = this.#names.sort();
    for (let n = 0; n < sorted.length; n += namesPerBlock)
      blocks.push(Buffer.from(sorted.slice(n, n + namesPerBlock).join(separator)));
    this.#runs.push(blocks);
    this.#names = [];
  }
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
