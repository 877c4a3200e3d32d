import { LRUCache } from 'lru-cache';
import { BytesInUse } from './bytes-in-use.ts';
import { SharedWork } from './shared-work.ts';

/**
 * How long a read is remembered. Nothing removed is visible for more than ten seconds: these, and those of the proxy
 * (docs/decisions/reading-cost-and-growth.md).
 */
export const rememberedMs = 4000;
/** The approximate limit for everything that is remembered. */
export const maxRememberedBytes = 32 * 1024 * 1024;
// The cost of an entry without its value.
const entryBytes = 512;

interface Remembered {
  readonly value: unknown;
  /** What a derived value was made from. */
  readonly source?: object;
}

/** Remembers for seconds what readers found in the store, and what was made from it. Concurrent readers of one object share a read. */
export class ReadMemory {
  readonly inUse = new BytesInUse();
  readonly #entries = new LRUCache<string, Remembered>({
    maxSize: maxRememberedBytes,
    ttl: rememberedMs,
    ttlResolution: 0,
  });
  readonly #reads = new SharedWork();

  /**
   * The remembered value of `key`, or the result of `read`, which is remembered from its start on if `bytesOf` returns its size.
   * `T` must follow from `key`. @throws the error of `read`, or the signal's reason
   */
  find<T>(
    key: string,
    signal: AbortSignal,
    read: (cancelled: AbortSignal) => Promise<T>,
    bytesOf: (value: T) => number | undefined,
  ): Promise<T> | T {
    const known = this.#entries.get(key);
    if (known) return known.value as T;
    return this.#reads.join(key, signal, async (cancelled) => {
      const start = performance.now();
      const value = await read(cancelled);
      const bytes = bytesOf(value);
      if (bytes !== undefined) this.#remember(key, { value }, bytes, start);
      return value;
    });
  }

  /** What `make` made of `source`, which `find` returned. It is forgotten with its source. `T` must follow from `key`. */
  derive<T extends { readonly memoryBytes: number }>(key: string, source: object, make: () => T): T {
    const known = this.#entries.get(key);
    if (known?.source === source) return known.value as T;
    const value = make();
    this.#remember(key, { value, source }, value.memoryBytes);
    return value;
  }

  /** Forgets values that are out of date. A read that has begun may bring one back, until its time is over. */
  forget(...keys: readonly string[]): void {
    for (const key of keys) this.#entries.delete(key);
  }

  /** Forgets `value` of `key`, unless another reader has, or has found a later one. @returns whether it was remembered */
  forgetValue(key: string, value: object): boolean {
    return this.#entries.get(key)?.value === value && this.#entries.delete(key);
  }

  #remember(key: string, remembered: Remembered, bytes: number, start = performance.now()): void {
    this.#entries.set(key, remembered, { size: entryBytes + bytes, start });
  }
}
