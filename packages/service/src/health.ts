import { type OutageLog, Outages } from './outages.ts';
import { reasonOf } from './reason-of.ts';
import { RefusedSetting } from './refused-setting.ts';
import type { Secret } from './secret.ts';

/** Checks a dependency. It rejects if the dependency is not ready. */
type ReadyCheck = () => Promise<unknown>;

interface Dependency {
  readonly check: ReadyCheck;
  readonly isRequired: boolean;
  /** The result of the last check that ended, which may be later than its probe. */
  lastFailure?: Failure | undefined;
}

const checkDeadlineMs = 2000;
// A connection at the start, or a failover, may take so long.
const graceMs = 1500;
const recheckMs = 5000;

interface HealthReport {
  readonly ready: boolean;
  readonly state: string;
  readonly parts: Record<string, 'ok' | 'down'>;
  /** Why dependencies are down, by their names. */
  readonly reasons?: Record<string, string>;
}

/** Readiness: the process is serving and all its required dependencies respond. Logs each change of a dependency. */
export class Health {
  readonly #dependencies = new Map<string, Dependency>();
  readonly #details: Record<string, string> = {};
  readonly #outages: Outages;
  readonly #secrets: readonly Secret[];
  #state: 'starting' | 'serving' | 'stopping' = 'starting';
  #recheck: NodeJS.Timeout | undefined;

  /** `secrets` appear neither in the log nor in a report. */
  constructor(log: OutageLog, secrets: readonly Secret[] = []) {
    this.#secrets = secrets;
    const messages = { begin: 'Component is down', end: 'Component is up again' };
    this.#outages = new Outages(log, { ...messages, graceMs, secrets });
  }

  /** Adds a dependency, which /readyz shows as `name`. */
  addCheck(name: string, check: ReadyCheck): void {
    this.#dependencies.set(name, { check, isRequired: true });
  }

  /** Adds a dependency without which the process is ready. The process is not ready if the check throws RefusedSetting. */
  addOptionalCheck(name: string, check: ReadyCheck): void {
    this.#dependencies.set(name, { check, isRequired: false });
  }

  /** Shows `value` as `name` in the response of /readyz. */
  setDetail(name: string, value: string): void {
    this.#details[name] = value;
  }

  /** Checks the dependencies now, and again every five seconds while one is down: otherwise only a probe would notice. */
  markServing(): void {
    this.#state = 'serving';
    void this.report();
  }

  markStopping(): void {
    this.#state = 'stopping';
    clearTimeout(this.#recheck);
  }

  async report(): Promise<HealthReport> {
    // A start may add checks meanwhile.
    const hasAllChecks = this.#state !== 'starting';
    const checked = [...this.#dependencies].map(async ([name, dependency]) => {
      const failure = await failureOf(dependency);
      const isRequired = dependency.isRequired || failure?.error instanceof RefusedSetting;
      return { name, isRequired, reason: this.#logChange(name, failure) };
    });
    const results = await Promise.all(checked);
    const down = results.filter(({ reason }) => reason !== undefined);
    if (down.length > 0) this.#checkAgain();
    const parts = results.map(({ name, reason }) => [name, reason === undefined ? 'ok' : 'down'] as const);
    return {
      ready: hasAllChecks && this.#state === 'serving' && !down.some(({ isRequired }) => isRequired),
      state: this.#state,
      parts: Object.fromEntries(parts),
      ...(down.length > 0 && { reasons: Object.fromEntries(down.map(({ name, reason }) => [name, reason ?? ''])) }),
      ...this.#details,
    };
  }

  /** @returns why the dependency is down */
  #logChange(name: string, failure: Failure | undefined): string | undefined {
    // Its own connections are closing.
    if (this.#state === 'stopping') return failure && reasonOf(failure.error, this.#secrets);
    if (failure) return this.#outages.report(name, failure.error);
    this.#outages.end(name);
    return undefined;
  }

  #checkAgain(): void {
    if (this.#state !== 'serving') return;
    clearTimeout(this.#recheck);
    this.#recheck = setTimeout(() => void this.report(), recheckMs).unref();
  }
}

interface Failure {
  readonly error: unknown;
}

async function failureOf(dependency: Dependency): Promise<Failure | undefined> {
  const keep = (failure: Failure | undefined) => {
    dependency.lastFailure = failure;
    return failure;
  };
  const deadline = new Promise<Failure>((resolve) => {
    const late = () =>
      resolve(dependency.lastFailure ?? { error: new Error(`no response within ${checkDeadlineMs} ms`) });
    setTimeout(late, checkDeadlineMs).unref();
  });
  const result = Promise.try(dependency.check).then(
    () => keep(undefined),
    (error: unknown) => keep({ error }),
  );
  return Promise.race([result, deadline]);
}
