const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const cleaners = new Set<() => unknown>();
let uninterrupted: Promise<unknown> = Promise.resolve();
let ending: Promise<unknown> | undefined;

/**
 * Calls `clean` when this process ends, also by a signal, which waits for its promise. Returns a function that calls it now instead.
 */
export function onEnd<T>(clean: () => T): () => T | undefined {
  if (cleaners.size === 0) {
    for (const signal of signals) process.once(signal, endBySignal);
    process.once('exit', cleanAll);
  }
  cleaners.add(clean);
  return () => {
    if (!cleaners.delete(clean)) return undefined;
    if (cleaners.size === 0) stopListening();
    return clean();
  };
}

/**
 * Completes `start` before a signal ends this process, if `onEnd` has something to clean. A second signal ends it at once. In a process that is
 * ending it does not begin, and its caller does not continue: that would undo the cleaning.
 */
export function finishFirst<T>(start: () => Promise<T>): Promise<T> {
  if (ending) return never();
  const work = start();
  uninterrupted = Promise.allSettled([uninterrupted, work]);
  return work.finally(() => (ending ? never() : undefined));
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/** Ends this process with an exit status, after the work of `finishFirst`. */
export async function endProcess(status: number): Promise<never> {
  await cleanUp();
  process.exit(status);
}

async function endBySignal(signal: NodeJS.Signals): Promise<void> {
  await cleanUp();
  // What began meanwhile, such as a lock.
  cleanAll();
  process.kill(process.pid, signal);
}

function cleanUp(): Promise<unknown> {
  ending ??= uninterrupted.then(() => Promise.allSettled(cleanAll()));
  return ending;
}

function cleanAll(): unknown[] {
  stopListening();
  const cleaning = [...cleaners].map((clean) => clean());
  cleaners.clear();
  return cleaning;
}

function stopListening(): void {
  for (const signal of signals) process.off(signal, endBySignal);
  process.off('exit', cleanAll);
}
