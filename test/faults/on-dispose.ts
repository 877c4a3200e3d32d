export function onDispose(end: () => Promise<unknown> | unknown): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
}

/** Runs `work` until disposed. Disposing rejects with the error of `work`. */
export function runUntilDisposed(work: (ended: AbortSignal) => Promise<void>): AsyncDisposable {
  const ended = new AbortController();
  const working = work(ended.signal);
  // Reported on disposal.
  working.catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await working;
    },
  };
}
