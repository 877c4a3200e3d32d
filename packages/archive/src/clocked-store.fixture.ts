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
    // Earlier writes may have a time up to a millisecond later: a filesystem store makes up its fraction.
    const at = (await this.#timeOfWrite()) + 1;
    this.#steps.push({ at, ms });
    // Until later writes get a later time: a file system may count in steps of 4 ms.
    while ((await this.#timeOfWrite()) <= at + 1);
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
  const inTurn =
    <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args) => {
      await turn();
      return call.apply(store, args);
    };
  const writeInTurn = <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
    inTurn((...args: Args) => clock.write(() => call.apply(store, args)));
  const convert = <T extends ListedObject | UnfinishedWrite>(each: T): T => ({
    ...each,
    writtenAt: clock.convert(each.writtenAt),
  });
  return {
    rereadMs: store.rereadMs,
    put: writeInTurn(store.put),
    putIfAbsent: writeInTurn(store.putIfAbsent),
    commit: writeInTurn(store.commit),
    read: inTurn(store.read),
    stat: inTurn(store.stat),
    exists: inTurn(store.exists),
    list: inTurn(async (...args) => (await store.list(...args)).map(convert)),
    listKeys: inTurn(store.listKeys),
    remove: inTurn(store.remove),
    abortWrite: inTurn(store.abortWrite),
    append: inTurn(store.append),
    completeWrite: inTurn(store.completeWrite),
    discardWrite: inTurn(store.discardWrite),
    async *listUnfinishedWrites() {
      for await (const each of store.listUnfinishedWrites()) yield convert(each);
    },
    probe: (options) => store.probe(options),
    clock: async () => clock.now(),
    ready: () => store.ready(),
    [Symbol.asyncDispose]: async () => {},
  };
}
