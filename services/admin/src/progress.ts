import { type ListPage, maxListLength } from '@echodrop/object-store/object-store';

/** The list that a command is reading. */
interface CurrentList {
  readonly prefix: string;
  readonly since: number;
  /** The position of the list's first page in the key space, from 0 to 1; undefined if the keys are not spread evenly. */
  readonly start: number | undefined;
  readonly count: number;
  readonly last: string | undefined;
  readonly isFinished: boolean;
}

interface Page {
  /** Number of keys. */
  readonly count: number;
  readonly last: string | undefined;
}

const decimals = '0123456789';
const letters = 'abcdefghijklmnopqrstuvwxyz';
const hexadecimals = `${decimals}abcdef`;
/** The lists of a whole store, with the digits of their names in key order; those of `by-time/` are not random. */
const alphabetOf = new Map<string, string>([
  ['records/', `${decimals}${letters.toUpperCase()}${letters}`],
  ['media/', hexadecimals],
  ['renditions/', hexadecimals],
  ['by-user/', hexadecimals],
  ['by-time/', ''],
]);
const comparedDigits = 4;

/** Logs every `intervalMs` how far the current list of a whole prefix is, until it is disposed. */
export class Progress implements Disposable {
  readonly #timer: NodeJS.Timeout;
  // The lists are kept by prefix, because a command may read two lists by turns.
  readonly #lists = new Map<string, CurrentList>();
  #list: CurrentList | undefined;
  #reported: CurrentList | undefined;

  constructor(log: (line: string) => void, intervalMs: number) {
    this.#timer = setInterval(() => {
      if (this.#list && this.#list !== this.#reported) log(describe(this.#list));
      this.#reported = this.#list;
    }, intervalMs);
    this.#timer.unref();
  }

  /** Notes a page of a list. */
  note(prefix: string, { after, limit }: ListPage, { count, last }: Page): void {
    if (limit < maxListLength || !alphabetOf.has(prefix)) return;
    const known = this.#lists.get(prefix);
    const list = known && after !== undefined && after === known.last ? known : newList(prefix, after);
    this.#list = { ...list, count: list.count + count, last, isFinished: count < limit };
    this.#lists.set(prefix, this.#list);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function newList(prefix: string, after: string | undefined): CurrentList {
  const start = positionOf(prefix, after ?? prefix);
  return { prefix, since: performance.now(), start, count: 0, last: undefined, isFinished: false };
}

function describe({ prefix, since, start, count, last, isFinished }: CurrentList): string {
  if (isFinished) return `${prefix}: ${count} read.`;
  const seconds = (performance.now() - since) / 1000;
  const read = `${prefix}: ${count} read, ${Math.round(count / seconds)} a second`;
  const position = last === undefined ? undefined : positionOf(prefix, last);
  if (start === undefined || position === undefined || position <= start) return `${read}.`;
  const remaining = (seconds * (1 - position)) / (position - start);
  return `${read}, ${Math.floor(100 * position)} %, about ${timeOf(remaining)} left of this list.`;
}

function timeOf(seconds: number): string {
  return seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}

/** How much of the key space comes before `key`. */
function positionOf(prefix: string, key: string): number | undefined {
  const alphabet = alphabetOf.get(prefix);
  if (!alphabet) return undefined;
  const name = key.slice(prefix.length, prefix.length + comparedDigits);
  return [...name].reduce(
    (sum, digit, n) => sum + Math.max(alphabet.indexOf(digit), 0) / alphabet.length ** (n + 1),
    0,
  );
}
