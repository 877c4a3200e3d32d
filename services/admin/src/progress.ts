import type { ObjectStore } from '@echodrop/object-store/object-store';

interface Listing {
  /** Keys so far. */
  readonly keys: number;
  readonly since: number;
  /** Position of its first page in the key space, from 0 to 1; undefined if the keys are not spread evenly. */
  readonly start: number | undefined;
  readonly position: number | undefined;
  readonly isReported: boolean;
}

/** The digits of random names, in key order. */
const digitsOf: Readonly<Record<string, string>> = {
  'records/': '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  'media/': '0123456789abcdef',
  'renditions/': '0123456789abcdef',
  'by-user/': '0123456789abcdef',
};
const digits = 4;

/** Passes calls on to a store and logs every `intervalMs` how far its long lists are, until it is disposed. */
export function reportProgress(
  store: ObjectStore,
  log: (line: string) => void,
  intervalMs: number,
): Disposable & { readonly store: ObjectStore } {
  const listings = new Map<string, Listing>();
  const note = (prefix: string, after: string | undefined, last: string | undefined, count: number) => {
    // Lists of one owner or upload are short.
    if (prefix.indexOf('/') !== prefix.length - 1 || last === undefined) return;
    const started = after?.startsWith(prefix) ? listings.get(prefix) : undefined;
    const start = positionOf(prefix, after ?? prefix);
    const listing = started ?? { keys: 0, since: performance.now(), start };
    const [keys, position] = [listing.keys + count, positionOf(prefix, last)];
    listings.set(prefix, { ...listing, keys, position, isReported: false });
  };
  const report = () => {
    for (const [prefix, listing] of listings) {
      if (!listing.isReported) log(describe(prefix, listing));
      listings.set(prefix, { ...listing, isReported: true });
    }
  };
  const timer = setInterval(report, intervalMs);
  timer.unref();
  const lists: Pick<ObjectStore, 'list' | 'listKeys'> = {
    async list(prefix, page) {
      const found = await store.list(prefix, page);
      note(prefix, page.after, found.at(-1)?.key, found.length);
      return found;
    },
    async listKeys(prefix, page) {
      const found = await store.listKeys(prefix, page);
      note(prefix, page.after, found.at(-1), found.length);
      return found;
    },
  };
  return { store: withMethods(store, lists), [Symbol.dispose]: () => clearInterval(timer) };
}

function withMethods(store: ObjectStore, methods: Partial<ObjectStore>): ObjectStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function describe(prefix: string, { keys, since, start, position }: Listing): string {
  const seconds = (performance.now() - since) / 1000;
  const rate = `${Math.round(keys / seconds)} a second`;
  if (position === undefined || start === undefined || position <= start) return `Reading ${prefix}: ${keys}, ${rate}.`;
  const remaining = (seconds * (1 - position)) / (position - start);
  return `Reading ${prefix}: ${keys}, ${rate}, ${Math.floor(100 * position)} %, about ${timeOf(remaining)} left.`;
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
