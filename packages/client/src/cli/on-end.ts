const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const cleaners = new Set<() => void>();
let uninterrupted: Promise<unknown> = Promise.resolve();

/** Calls `clean` when this process ends, also by a signal. Returns a function that calls it now instead. */
export function onEnd(clean: () => void): () => void {
  if (cleaners.size === 0) {
    for (const signal of signals) process.once(signal, endBySignal);
    process.once('exit', cleanAll);
  }
  cleaners.add(clean);
  return () => {
    if (!cleaners.delete(clean)) return;
    if (cleaners.size === 0) stopListening();
    clean();
  };
}

/** Completes `work` before a signal ends this process, if `onEnd` has something to clean. A second signal ends it at once. */
export function finishFirst<T>(work: Promise<T>): Promise<T> {
  uninterrupted = Promise.allSettled([uninterrupted, work]);
  return work;
}

/** Ends this process with an exit status, after the work of `finishFirst`. */
export async function endProcess(status: number): Promise<never> {
  await uninterrupted;
  process.exit(status);
}

async function endBySignal(signal: NodeJS.Signals): Promise<void> {
  await uninterrupted;
  cleanAll();
  process.kill(process.pid, signal);
}

function cleanAll(): void {
  stopListening();
  for (const clean of cleaners) clean();
  cleaners.clear();
}

function stopListening(): void {
  for (const signal of signals) process.off(signal, endBySignal);
  process.off('exit', cleanAll);
}
