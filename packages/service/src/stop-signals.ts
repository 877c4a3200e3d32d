/** Ctrl-C arrives twice: from the terminal, which signals the whole group, and from npm. */
const repeatMs = 1000;

/** A signal that the first SIGINT, SIGTERM or SIGHUP aborts. A second one ends this process and its programs, even if something hangs. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let firstAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      firstAt ??= performance.now();
      stop.abort(new Error('Interrupted.'));
      if (performance.now() - firstAt <= repeatMs) return;
      // process.exit alone would wait for a file system that does not respond.
      process.once('exit', () => {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      });
      process.exit();
    });
  }
  return stop.signal;
}
