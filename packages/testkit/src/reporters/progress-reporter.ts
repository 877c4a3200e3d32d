import { relative } from 'node:path';
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node';

/** Every 15 seconds of a run of several files, or every `everyMs`, prints how many test files have ended, how long the others may take, and what runs. */
export class ProgressReporter implements Reporter {
  readonly #everyMs: number;
  #vitest: Vitest | undefined;
  readonly #running = new Map<string, string>();
  /** The durations of the files that have not ended, in ms, as the cache of Vitest has them from earlier runs. */
  readonly #remaining = new Map<string, number>();
  #files = 0;
  #allMs = 0;
  #begun = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs = 15_000) {
    this.#everyMs = everyMs;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    for (const each of specifications)
      this.#remaining.set(each.moduleId, this.#vitest?.cache.getTestSpecificationResult(each)?.duration ?? 0);
    this.#files = specifications.length;
    this.#allMs = sum(this.#remaining.values());
    this.#begun = performance.now();
    if (this.#files > 1) this.#timer = setInterval(() => this.#print(), this.#everyMs).unref();
  }

  onTestModuleStart({ moduleId, project }: TestModule): void {
    this.#running.set(moduleId, relative(project.config.root, moduleId));
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#running.delete(moduleId);
    this.#remaining.delete(moduleId);
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }

  #print(): void {
    if (this.#running.size === 0) return;
    const ended = this.#files - this.#remaining.size;
    const running = [...this.#running.values()].join(', ');
    this.#vitest?.logger.log(`${ended} of ${this.#files} test files done${this.#timeLeft()}. Running: ${running}`);
  }

  /** As the earlier durations of the ended files took the elapsed time, those of the others will take this. */
  #timeLeft(): string {
    const remainingMs = sum(this.#remaining.values());
    const endedMs = this.#allMs - remainingMs;
    if (endedMs <= 0) return '';
    const leftMs = ((performance.now() - this.#begun) * remainingMs) / endedMs;
    return leftMs < 60_000 ? ', less than a minute left' : `, about ${Math.round(leftMs / 60_000)} min left`;
  }
}

function sum(values: Iterable<number>): number {
  return Iterator.from(values).reduce((total, each) => total + each, 0);
}
