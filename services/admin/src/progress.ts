import { maxListLength, type ObjectStore } from '@echodrop/object-store/object-store';
import { withMethods } from './store-calls.ts';

/**
 * The prefixes that a command lists in full, in order: its parts. A command may skip a stage, and leave one early for a later one. Each stage
 * begins with a prefix that those before it do not expect at that point.
 */
export type Stages = readonly (readonly string[])[];

interface Part {
  readonly prefix: string;
  readonly stage: number;
  /** Its place in the stage. */
  readonly index: number;
  /** Its number among the parts so far, from 1. */
  readonly number: number;
  readonly since: number;
  /** Position of its first page in the key space, from 0 to 1; undefined if the keys are not spread evenly. */
  readonly start: number | undefined;
  readonly keys: number;
  readonly last: string | undefined;
  readonly isFinished: boolean;
  readonly isReported: boolean;
}

interface Page {
  readonly after?: string | undefined;
  readonly limit: number;
}

interface Options {
  readonly stages: Stages;
  readonly log: (line: string) => void;
  readonly intervalMs: number;
}

/** The digits of random names, in key order. */
const digitsOf: Readonly<Record<string, string>> = {
  'records/': '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  'media/': '0123456789abcdef',
  'renditions/': '0123456789abcdef',
  'by-user/': '0123456789abcdef',
};
const digits = 4;

/** Passes calls on to a store and logs every `intervalMs` how far the list of the current part is, until it is disposed. */
export function reportProgress(
  store: ObjectStore,
  { stages, log, intervalMs }: Options,
): Disposable & { readonly store: ObjectStore } {
  let part: Part | undefined;
  // Each upload has an entry in both listings.
  let entries: number | undefined;
  const note = (prefix: string, { after, limit }: Page, keys: readonly string[]) => {
    const isNext = part?.prefix === prefix && after !== undefined && after === part.last;
    const current = isNext ? part : begin(stages, part, prefix, { after, limit });
    if (!current) return;
    const isFinished = keys.length < limit;
    part = { ...current, keys: current.keys + keys.length, last: keys.at(-1), isFinished, isReported: false };
    if (isFinished && prefix === 'by-user/') entries = part.keys;
  };
  const report = () => {
    if (part?.isReported === false) log(describe(part, stages, entries));
    if (part) part = { ...part, isReported: true };
  };
  const timer = setInterval(report, intervalMs);
  timer.unref();
  const lists: Pick<ObjectStore, 'list' | 'listKeys'> = {
    async list(prefix, page) {
      const found = await store.list(prefix, page);
      note(
        prefix,
        page,
        found.map(({ key }) => key),
      );
      return found;
    },
    async listKeys(prefix, page) {
      const found = await store.listKeys(prefix, page);
      note(prefix, page, found);
      return found;
    },
  };
  return { store: withMethods(store, lists), [Symbol.dispose]: () => clearInterval(timer) };
}

/** The part that a list of `prefix` begins; undefined if it is not a part, such as a list that merges with the current one. */
function begin(stages: Stages, part: Part | undefined, prefix: string, { after, limit }: Page): Part | undefined {
  if (limit < maxListLength) return undefined;
  const inStage = part?.stage ?? -1;
  const next = (part?.index ?? -1) + 1;
  const later = stages.findIndex(([first], stage) => stage > inStage && first === prefix);
  const place =
    part && stages[inStage]?.[next] === prefix
      ? { stage: inStage, index: next }
      : later >= 0 && { stage: later, index: 0 };
  if (!place) return undefined;
  return {
    prefix,
    ...place,
    number: (part?.number ?? 0) + 1,
    since: performance.now(),
    start: positionOf(prefix, after ?? prefix),
    keys: 0,
    last: undefined,
    isFinished: false,
    isReported: false,
  };
}

function describe(part: Part, stages: Stages, entries: number | undefined): string {
  const { prefix, stage, index, number, keys, isFinished } = part;
  const count = number + (stages[stage]?.length ?? 0) - index - 1;
  const read = `Part ${number} of ${count}, ${prefix}: ${keys} read`;
  if (isFinished) return `${read}.`;
  const seconds = (performance.now() - part.since) / 1000;
  const rate = `${Math.round(keys / seconds)} a second`;
  const [start, position] = sharesOf(part, entries);
  if (start === undefined || position === undefined || position <= start) return `${read}, ${rate}.`;
  const remaining = (seconds * (1 - position)) / (position - start);
  return `${read}, ${rate}, ${Math.floor(100 * position)} %, about ${timeOf(remaining)} left of this part.`;
}

/** Where a part began, and where it is. */
function sharesOf({ prefix, start, keys, last }: Part, entries: number | undefined): (number | undefined)[] {
  if (prefix === 'by-time/') return entries === undefined || keys > entries ? [] : [0, keys / entries];
  return [start, last === undefined ? undefined : positionOf(prefix, last)];
}

function timeOf(seconds: number): string {
  return seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}

/** How much of the key space comes before `key`. */
function positionOf(prefix: string, key: string): number | undefined {
  const alphabet = digitsOf[prefix];
  if (alphabet === undefined) return undefined;
  const name = key.slice(prefix.length, prefix.length + digits);
  return [...name].reduce(
    (sum, digit, n) => sum + Math.max(alphabet.indexOf(digit), 0) / alphabet.length ** (n + 1),
    0,
  );
}
