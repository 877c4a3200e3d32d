/** Aborts when the process is told to stop; told twice, it ends at once. Disposing leaves signals to themselves again. */
export class StopAsked implements Disposable {
  readonly #stop = new AbortController();
  readonly #stopped = () => this.#stop.abort(new Stopped('stopped before the end'));

  constructor() {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, this.#stopped);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  [Symbol.dispose](): void {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.off(name, this.#stopped);
  }
}

/** The process was told to stop. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}
