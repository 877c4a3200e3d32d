/** A disposable that calls `end`. */
export function onDispose(end: () => Promise<unknown> | unknown): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
}

/** Runs `work` until it is disposed, which rejects with the error of `work`. */
export function runUntilDisposed(work: (ended: AbortSignal) => Promise<void>): AsyncDisposable {
  const ended = new AbortController();
  const working = work(ended.signal);
  // Handled when it is disposed.
  working.catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await working;
    },
  };
}
