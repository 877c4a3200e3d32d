export interface StallTimer {
  restart(): void;
  stop(): void;
  /** Stops the timer for good: the request is over, though its body may still be read. */
  end(): void;
}

/** A timer, not yet running, that calls `onStall` once `ms` pass without `restart` or `stop`. */
export function stallTimer(ms: number, onStall: (error: Error) => void): StallTimer {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const stop = () => clearTimeout(timer);
  return {
    restart() {
      stop();
      if (!isOver) timer = setTimeout(() => onStall(new Error(`no progress for ${ms / 1000} s`)), ms);
    },
    stop,
    end() {
      isOver = true;
      stop();
    },
  };
}
