import type { ObjectStore } from '@echodrop/object-store/object-store';

/** The same store, with other methods. */
export function withMethods(store: ObjectStore, methods: Partial<ObjectStore>): ObjectStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The same store until `signal` aborts. Then every call throws its reason, also one that waits for the store. */
export function until(signal: AbortSignal, store: ObjectStore): ObjectStore {
  const waiting = new Set<(reason: unknown) => void>();
  signal.addEventListener('abort', () => {
    for (const reject of waiting) reject(signal.reason);
  });
  const unlessAborted = (result: unknown) => {
    if (!(result instanceof Promise)) return result;
    const { promise, resolve, reject } = Promise.withResolvers();
    waiting.add(reject);
    result.then(resolve, reject).finally(() => waiting.delete(reject));
    return promise;
  };
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        signal.throwIfAborted();
        return unlessAborted(value.apply(target, args));
      };
    },
  });
}
