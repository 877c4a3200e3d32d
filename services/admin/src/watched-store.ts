import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Progress } from './progress.ts';

/** Waits for `work` until `signal` aborts. @throws the signal's reason, or the error of `work` */
export async function orInterrupted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const interrupted = Promise.withResolvers<never>();
  const stop = () => interrupted.reject(signal.reason);
  signal.addEventListener('abort', stop);
  return Promise.race([work(), interrupted.promise]).finally(() => signal.removeEventListener('abort', stop));
}

/**
 * The same store until `signal` aborts. Then every call throws its reason, also one that waits for the store, so that a command can still say
 * what it has done. An object that is being read ends too. `progress` sees each page of a list.
 */
export function watchedStore(store: ObjectStore, signal: AbortSignal, progress: Progress): ObjectStore {
  const own: Pick<ObjectStore, 'read' | 'list' | 'listKeys'> = {
    read: (key, options) => store.read(key, { ...options, signal }),
    async list(prefix, page) {
      const found = await store.list(prefix, page);
      progress.note(prefix, page, { count: found.length, last: found.at(-1)?.key });
      return found;
    },
    async listKeys(prefix, page) {
      const found = await store.listKeys(prefix, page);
      progress.note(prefix, page, { count: found.length, last: found.at(-1) });
      return found;
    },
  };
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(name in own ? own : target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        signal.throwIfAborted();
        const result: unknown = value.apply(target, args);
        return result instanceof Promise ? orInterrupted(signal, () => result) : result;
      };
    },
  });
}
