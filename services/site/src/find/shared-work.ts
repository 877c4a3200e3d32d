interface Work<T> {
  readonly result: Promise<T>;
  /** Aborted when its last reader leaves. */
  readonly cancel: AbortController;
  waiting: number;
}

/** Readers who wait for the same result share the work for it. */
export class SharedWork {
  readonly #running = new Map<string, Work<unknown>>();

  /**
   * Joins the running work for `key`, or starts it. `T` must follow from `key`. The signal of `start` is aborted when the last reader leaves.
   * @throws the error of the work, or the signal's reason at once
   */
  async join<T>(key: string, signal: AbortSignal, start: (cancelled: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const work = (this.#running.get(key) as Work<T> | undefined) ?? this.#start(key, start);
    const left = Promise.withResolvers<never>();
    const leave = () => left.reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    work.waiting += 1;
    try {
      return await Promise.race([work.result, left.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
      work.waiting -= 1;
      if (work.waiting === 0) this.#end(key, work);
    }
  }

  #start<T>(key: string, start: (cancelled: AbortSignal) => Promise<T>): Work<T> {
    const cancel = new AbortController();
    const work = { result: start(cancel.signal), cancel, waiting: 0 };
    this.#running.set(key, work);
    const end = () => this.#end(key, work);
    work.result.then(end, end);
    return work;
  }

  #end(key: string, work: Work<unknown>): void {
    if (this.#running.get(key) === work) this.#running.delete(key);
    work.cancel.abort();
  }
}
