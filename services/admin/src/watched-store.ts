import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Progress } from './progress.ts';

/**
 * The same store until `signal` aborts. Then every call throws its reason, also one that waits for the store, so that a command can still say
 * what it has done. An object that is being read ends too. `progress` sees each page of a list.
 */
export function watchedStore(store: ObjectStore, signal: AbortSignal, progress: Progress): ObjectStore {
  const waiting = new Set<(reason: unknown) => void>();
  signal.addEventListener('abort', () => {
    for (const reject of waiting) reject(signal.reason);
  });
  const unlessAborted = <T>(result: Promise<T>): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    waiting.add(reject);
    result.then(resolve, reject).finally(() => waiting.delete(reject));
    return promise;
  };
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
        return result instanceof Promise ? unlessAborted(result) : result;
      };
    },
  });
}
