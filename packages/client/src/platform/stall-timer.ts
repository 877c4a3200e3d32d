export interface StallTimer {
  restart(): void;
  stop(): void;
}

/** A timer, not yet running, that calls `onStall` once `ms` pass without `restart` or `stop`. */
export function stallTimer(ms: number, onStall: (error: Error) => void): StallTimer {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  return {
    restart() {
      stop();
      timer = setTimeout(() => onStall(new Error(`no progress for ${ms / 1000} s`)), ms);
    },
    stop,
  };
}
