/** A Ctrl-C comes twice: the terminal sends it to the whole group, and npm hands its own on. */
const onceMoreWithinMs = 1000;

/**
 * Aborted by the first SIGINT, SIGTERM or SIGHUP, for an end in order. A second one ends this process there and then, even
 * where something hangs; what it keeps running is killed with it.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let first: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      first ??= performance.now();
      if (performance.now() - first > onceMoreWithinMs) endAtOnce(signal);
      stop.abort();
    });
  }
  // The reader of the output is gone.
  process.stdout.on('error', () => stop.abort());
  return stop.signal;
}

// process.exit by itself would wait for a file system that does not answer.
function endAtOnce(signal: NodeJS.Signals): void {
  process.once('exit', () => {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
  process.exit();
}
