import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedObject, ObjectStore, UnfinishedWrite } from '@echodrop/object-store/object-store';

const hourMs = 3_600_000;

/** The clock of a store, which tests set forward: what was written before is as much older. */
export class TestClock {
  readonly #store: ObjectStore;
  readonly #steps: { at: number; ms: number }[] = [];
  #passing: Promise<void> = Promise.resolve();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  async pass(hours: number): Promise<void> {
    this.#passing = this.#step(hours * hourMs);
    await this.#passing;
  }

  /** Resolves when it is not being set. */
  async stands(): Promise<void> {
    await this.#passing;
  }

  /** A time of the store as this clock had it. */
  told(real: Date): Date {
    const passed = this.#steps.filter(({ at }) => at < real.getTime()).reduce((sum, { ms }) => sum + ms, 0);
    return new Date(real.getTime() + passed);
  }

  now(): Date {
    return new Date(Date.now() + this.#steps.reduce((sum, { ms }) => sum + ms, 0));
  }

  // By the store's own clock, which need not be this process's.
  async #step(ms: number): Promise<void> {
    const key = 'clock/now';
    await this.#store.put(key, Readable.from([Buffer.from('now')]));
    const [written] = await this.#store.list('clock/', { limit: 1 });
    if (!written) throw new Error('the store lists nothing');
    this.#steps.push({ at: written.writtenAt.getTime(), ms });
    // What is written next has a time of its own.
    await sleep(3);
  }
}

/** `store` with the times of `clock`; `turn` is waited for before each call. */
export function clockedStore(store: ObjectStore, clock: TestClock, turn = async () => {}): ObjectStore {
  const inTurn = async <T>(call: () => Promise<T>) => {
    await turn();
    return call();
  };
  const timed = <T extends ListedObject | UnfinishedWrite>(each: T): T => ({
    ...each,
    writtenAt: clock.told(each.writtenAt),
  });
  return {
    put: (...args) => inTurn(() => store.put(...args)),
    putIfAbsent: (...args) => inTurn(() => store.putIfAbsent(...args)),
    read: (...args) => inTurn(() => store.read(...args)),
    stat: (...args) => inTurn(() => store.stat(...args)),
    supportsChecksums: () => store.supportsChecksums(),
    exists: (...args) => inTurn(() => store.exists(...args)),
    list: (...args) => inTurn(async () => (await store.list(...args)).map(timed)),
    remove: (...args) => inTurn(() => store.remove(...args)),
    abortWrite: (...args) => inTurn(() => store.abortWrite(...args)),
    async *listUnfinishedWrites() {
      for await (const each of store.listUnfinishedWrites()) yield timed(each);
    },
    clock: async () => clock.now(),
    ready: () => store.ready(),
    [Symbol.asyncDispose]: async () => {},
  };
}
