/** Resolves when the part can do its work, rejects when it cannot. */
export type ReadyCheck = () => Promise<unknown>;

const checkDeadlineMs = 2000;

interface HealthReport {
  readonly ready: boolean;
  readonly state: string;
  readonly parts: Record<string, 'ok' | 'down'>;
}

/** Whether the process may be sent work: it has started, it is not stopping, and each part that it needs answers. */
export class Health {
  readonly #checks = new Map<string, ReadyCheck>();
  readonly #details: Record<string, string> = {};
  #state: 'starting' | 'serving' | 'stopping' = 'starting';

  /** Counts `check` from now on; `part` is named in the answer of /readyz. */
  needs(part: string, check: ReadyCheck): void {
    this.#checks.set(part, check);
  }

  /** Shows `value` under `name` in the answer of /readyz. */
  detail(name: string, value: string): void {
    this.#details[name] = value;
  }

  serving(): void {
    this.#state = 'serving';
  }

  stopping(): void {
    this.#state = 'stopping';
  }

  async report(): Promise<HealthReport> {
    const asked = [...this.#checks].map(
      async ([part, check]) => [part, (await answers(check)) ? 'ok' : 'down'] as const,
    );
    const parts = Object.fromEntries(await Promise.all(asked));
    const ready = this.#state === 'serving' && Object.values(parts).every((state) => state === 'ok');
    return { ready, state: this.#state, parts, ...this.#details };
  }
}

async function answers(check: ReadyCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, checkDeadlineMs, false);
  });
  const answer = Promise.try(check).then(
    () => true,
    () => false,
  );
  return Promise.race([answer, deadline]).finally(() => clearTimeout(timer));
}
