import { Readable } from 'node:stream';
import type { ListedObject, ObjectStore, UnfinishedWrite } from '@echodrop/object-store/object-store';

const hourMs = 3_600_000;

/** A store clock that tests can advance, which makes earlier objects older. */
export class TestClock {
  readonly #store: ObjectStore;
  readonly #steps: { at: number; ms: number }[] = [];
  #advancing: Promise<void> = Promise.resolve();
  readonly #writes = new Set<Promise<unknown>>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  async advance(hours: number): Promise<void> {
    this.#advancing = this.#step(hours * hourMs);
    await this.#advancing;
  }

  /** Resolves once no advance is running. */
  async settled(): Promise<void> {
    await this.#advancing;
  }

  /** Runs a write between two advances: no write takes hours until it is visible. */
  async write<T>(call: () => Promise<T>): Promise<T> {
    await this.settled();
    const writing = call();
    this.#writes.add(writing);
    return writing.finally(() => this.#writes.delete(writing));
  }

  /** Converts a time of the store to this clock. */
  convert(real: Date): Date {
    const offset = this.#steps.filter(({ at }) => at < real.getTime()).reduce((sum, { ms }) => sum + ms, 0);
    return new Date(real.getTime() + offset);
  }

  now(): Date {
    return new Date(Date.now() + this.#steps.reduce((sum, { ms }) => sum + ms, 0));
  }

  async #step(ms: number): Promise<void> {
    await Promise.allSettled(this.#writes);
    const at = await this.#timeOfWrite();
    this.#steps.push({ at, ms });
    // Until later writes get a later time: a file system may count in steps of 4 ms.
    while ((await this.#timeOfWrite()) <= at);
  }

  // By the store's own clock, which may differ from this process's.
  async #timeOfWrite(): Promise<number> {
    await this.#store.put('clock/now', Readable.from([Buffer.from('now')]));
    const [written] = await this.#store.list('clock/', { limit: 1 });
    if (!written) throw new Error('empty list');
    return written.writtenAt.getTime();
  }
}

/** `store` with the times of `clock`; each call first awaits `turn`. */
export function clockedStore(store: ObjectStore, clock: TestClock, turn = async () => {}): ObjectStore {
  const inTurn = async <T>(call: () => Promise<T>) => {
    await turn();
    return call();
  };
  const convert = <T extends ListedObject | UnfinishedWrite>(each: T): T => ({
    ...each,
    writtenAt: clock.convert(each.writtenAt),
  });
  return {
    rereadMs: store.rereadMs,
    put: (...args) => inTurn(() => clock.write(() => store.put(...args))),
    putIfAbsent: (...args) => inTurn(() => clock.write(() => store.putIfAbsent(...args))),
    read: (...args) => inTurn(() => store.read(...args)),
    stat: (...args) => inTurn(() => store.stat(...args)),
    commit: (...args) => inTurn(() => clock.write(() => store.commit(...args))),
    probe: (options) => store.probe(options),
    exists: (...args) => inTurn(() => store.exists(...args)),
    list: (...args) => inTurn(async () => (await store.list(...args)).map(convert)),
    listKeys: (...args) => inTurn(() => store.listKeys(...args)),
    remove: (...args) => inTurn(() => store.remove(...args)),
    abortWrite: (...args) => inTurn(() => store.abortWrite(...args)),
    async *listUnfinishedWrites() {
      for await (const each of store.listUnfinishedWrites()) yield convert(each);
    },
    append: (...args) => inTurn(() => store.append(...args)),
    completeWrite: (...args) => inTurn(() => store.completeWrite(...args)),
    discardWrite: (...args) => inTurn(() => store.discardWrite(...args)),
    clock: async () => clock.now(),
    ready: () => store.ready(),
    [Symbol.asyncDispose]: async () => {},
  };
}
