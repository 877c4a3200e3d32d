/** Rejects if the dependency is not ready. */
type ReadyCheck = () => Promise<unknown>;

const checkDeadlineMs = 2000;

interface HealthReport {
  readonly ready: boolean;
  readonly state: string;
  readonly parts: Record<string, 'ok' | 'down'>;
}

/** Readiness: the process is serving and all its dependencies respond. */
export class Health {
  readonly #checks = new Map<string, ReadyCheck>();
  readonly #details: Record<string, string> = {};
  #state: 'starting' | 'serving' | 'stopping' = 'starting';

  /** Adds a dependency, which /readyz shows as `name`. */
  addCheck(name: string, check: ReadyCheck): void {
    this.#checks.set(name, check);
  }

  /** Shows `value` as `name` in the response of /readyz. */
  setDetail(name: string, value: string): void {
    this.#details[name] = value;
  }

  markServing(): void {
    this.#state = 'serving';
  }

  markStopping(): void {
    this.#state = 'stopping';
  }

  async report(): Promise<HealthReport> {
    const results = [...this.#checks].map(
      async ([name, check]) => [name, (await isReady(check)) ? 'ok' : 'down'] as const,
    );
    const checks = Object.fromEntries(await Promise.all(results));
    const ready = this.#state === 'serving' && Object.values(checks).every((state) => state === 'ok');
    return { ready, state: this.#state, parts: checks, ...this.#details };
  }
}

async function isReady(check: ReadyCheck): Promise<boolean> {
  const deadline = new Promise<false>((resolve) => setTimeout(resolve, checkDeadlineMs, false).unref());
  const result = Promise.try(check).then(
    () => true,
    () => false,
  );
  return Promise.race([result, deadline]);
}
