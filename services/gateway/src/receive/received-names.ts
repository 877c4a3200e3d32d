import { isPlain } from '../response/refusal-error.ts';
import { isFieldName } from './part-headers.ts';

const maxOthers = 10;
const maxNameLength = 40;
const maxListLength = 180;
const unshowable = 'a name with other characters';

/** The names in a request, for messages: all parameters, and the first of others. */
export class ReceivedNames {
  readonly #names = new Set<string>();

  constructor(names: Iterable<string> = []) {
    for (const name of names) this.add(name);
  }

  add(name: string): void {
    const isParameter = isFieldName(name) || name === 'media';
    const isShowable = isPlain(name) && name.length <= maxNameLength;
    if (isParameter || this.#names.size < maxOthers) this.#names.add(isShowable ? name : unshowable);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** A list that fits into a message. */
  toString(): string {
    let list = '';
    for (const name of this.#names) {
      const longer = list ? `${list}, ${name}` : name;
      if (longer.length > maxListLength) break;
      list = longer;
    }
    return list || 'none';
  }
}
