const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `clean` when this process ends, also by a signal. Returns a function that calls it now instead. */
export function onEnd(clean: () => void): () => void {
  const cleanNow = () => {
    for (const signal of signals) process.off(signal, end);
    process.off('exit', cleanNow);
    clean();
  };
  const end = (signal: NodeJS.Signals) => {
    cleanNow();
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.once(signal, end);
  process.once('exit', cleanNow);
  return cleanNow;
}
