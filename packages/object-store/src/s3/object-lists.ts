import { LRUCache } from 'lru-cache';
import { type ListedObject, maxListLength, StoreUnavailable } from '../object-store.ts';
import { invalidList, type ObjectPage, readObjectPage } from './response-xml.ts';

interface ListRequest {
  readonly prefix: string;
  readonly after: string;
  /** At most 1000. */
  readonly limit: number;
}

interface Position {
  readonly prefix: string;
  readonly after: string;
  readonly isOfFolders: boolean;
}

const maxEmptyPages = 100;
const maxTokens = 8;
const tokenMs = 60_000;

/** Lists of one bucket. @throws StoreUnavailable */
export class ObjectLists {
  readonly #request: (query: Record<string, string>) => Promise<Buffer>;
  // These tokens continue lists between calls. For a page without a token, MinIO reads the whole folder again: a second for a million objects.
  readonly #tokens = new LRUCache<string, string>({ max: maxTokens, ttl: tokenMs });

  /** `request` sends a request for a list and resolves with its body. */
  constructor(request: (query: Record<string, string>) => Promise<Buffer>) {
    this.#request = request;
  }

  async list(range: ListRequest): Promise<ListedObject[]> {
    const pages = await Array.fromAsync(this.#pages({ ...range, isOfFolders: false }));
    return pages.flatMap(({ objects }) => objects);
  }

  /** With `isOfFolders`, folders in place of the keys below them. After a folder comes what is not in it. */
  async listKeys(range: ListRequest, isOfFolders: boolean): Promise<string[]> {
    const pages = await Array.fromAsync(this.#pages({ ...range, isOfFolders }));
    return pages.flatMap(keysOf);
  }

  /** A page may have fewer objects or none although more follow (S3 API, ListObjectsV2). */
  async *#pages({ prefix, after, limit, isOfFolders }: ListRequest & Position): AsyncGenerator<ObjectPage> {
    const position = { prefix, after, isOfFolders };
    let token = this.#takeToken(position);
    for (let [found, empty] = [0, 0]; found < limit; ) {
      const page = readObjectPage(await this.#request(queryOf(position, token, limit - found)));
      const keys = keysOf(page);
      requireNext(keys, position, limit - found);
      yield page;
      if (!page.isTruncated) return;
      found += keys.length;
      empty = keys.length > 0 ? 0 : empty + 1;
      if (empty > 0 && (page.token === '' || empty === maxEmptyPages))
        throw new StoreUnavailable('object store sent too many empty list pages');
      position.after = keys.at(-1) ?? position.after;
      token = page.token;
    }
    if (token !== '' && limit === maxListLength) this.#tokens.set(JSON.stringify(position), token);
  }

  // A token continues one list.
  #takeToken(position: Position): string {
    const key = JSON.stringify(position);
    const token = this.#tokens.get(key);
    this.#tokens.delete(key);
    return token ?? '';
  }
}

function queryOf({ prefix, after, isOfFolders }: Position, token: string, limit: number): Record<string, string> {
  // Stores may list a folder again after its name.
  const start = isOfFolders && after.endsWith('/') ? `${after}\u{10ffff}` : after;
  return {
    'list-type': '2',
    'max-keys': `${limit}`,
    prefix,
    ...(isOfFolders && { delimiter: '/' }),
    // S3Proxy refuses a request with both parameters.
    ...(token ? { 'continuation-token': token } : start && { 'start-after': start }),
  };
}

function keysOf({ objects, folders }: ObjectPage): string[] {
  const keys = objects.map(({ key }) => key);
  return folders.length === 0 ? keys : [...keys, ...folders].sort(byBytes);
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Other keys could make a list endless, or its reader handle an object twice. @throws StoreUnavailable unless these are what was requested */
function requireNext(keys: readonly string[], { prefix, after }: Position, limit: number): void {
  let last = Buffer.from(after);
  const areNext = keys.every((key) => {
    const before = last;
    const bytes = Buffer.from(key);
    last = bytes;
    return key.startsWith(prefix) && Buffer.compare(before, bytes) < 0;
  });
  if (!areNext || keys.length > limit) throw invalidList();
}
