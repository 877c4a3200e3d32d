import { filesBelow } from './files-in-order.ts';

type Walk = AsyncGenerator<string>;

const keptMs = 60_000;
const mostKept = 4;

/**
 * Walks through the files below a folder that have stopped somewhere, for whoever goes on from there soon: a folder of a million names
 * would else be read and sorted again for every thousand of them.
 */
export class WalksKept {
  readonly #root: string;
  readonly #kept = new Map<string, { readonly walk: Walk; readonly end: NodeJS.Timeout }>();

  constructor(root: string) {
    this.#root = root;
  }

  /** The files below `prefix` after `after`, in their order; of those that have come within the last minute some may be missing. */
  goOn(prefix: string, after: string): Walk {
    const place = placeOf(prefix, after);
    const kept = this.#kept.get(place);
    this.#drop(place);
    return kept?.walk ?? filesBelow(this.#root, prefix, after);
  }

  /** Keeps a walk that has stopped at `at`. */
  keep(prefix: string, at: string, walk: Walk): void {
    const place = placeOf(prefix, at);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size >= mostKept) this.#drop(oldest);
    this.#drop(place);
    this.#kept.set(place, { walk, end: setTimeout(() => this.#drop(place), keptMs).unref() });
  }

  #drop(place: string): void {
    clearTimeout(this.#kept.get(place)?.end);
    this.#kept.delete(place);
  }
}

function placeOf(prefix: string, at: string): string {
  return `${prefix}\0${at}`;
}
