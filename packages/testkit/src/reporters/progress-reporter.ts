import { relative } from 'node:path';
import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node';

interface TestFile {
  /** The duration in an earlier run, in ms; the mean of the others if there was none. */
  readonly expectedMs: number;
  /** When the file began, as `performance.now`. */
  begun?: number;
}

/** Prints progress every `everyMs` if a run has several files: files done, time left, and the files running. */
export class ProgressReporter implements Reporter {
  readonly #everyMs: number;
  #vitest: Vitest | undefined;
  /** The files that have not ended, by module. */
  readonly #remaining = new Map<string, TestFile>();
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
    const durations = specifications.map((each) => this.#vitest?.cache.getTestSpecificationResult(each)?.duration);
    const known = durations.filter((ms) => ms !== undefined);
    const mean = known.reduce((sum, ms) => sum + ms, 0) / Math.max(1, known.length);
    this.#remaining.clear();
    for (const [n, { moduleId }] of specifications.entries())
      this.#remaining.set(moduleId, { expectedMs: durations[n] ?? mean });
    this.#files = specifications.length;
    this.#allMs = mean * this.#files;
    this.#begun = performance.now();
    clearInterval(this.#timer);
    if (this.#files > 1) this.#timer = setInterval(() => this.#print(), this.#everyMs).unref();
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    const file = this.#remaining.get(moduleId);
    if (file) file.begun = performance.now();
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#remaining.delete(moduleId);
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }

  #print(): void {
    const now = performance.now();
    const running: string[] = [];
    let remainingMs = 0;
    for (const [moduleId, { expectedMs, begun }] of this.#remaining) {
      const runMs = begun === undefined ? 0 : now - begun;
      remainingMs += Math.max(0, expectedMs - runMs);
      if (begun === undefined) continue;
      const path = relative(this.#vitest?.config.root ?? '', moduleId);
      running.push(`${path} (${Math.round(runMs / 1000)} s)`);
    }
    if (running.length === 0) return;
    const done = this.#files - this.#remaining.size;
    const left = this.#timeLeft(now - this.#begun, remainingMs);
    this.#vitest?.logger.log(`${done} of ${this.#files} test files done${left}. Running: ${running.join(', ')}`);
  }

  /** Assumes that the remaining work goes at the pace of the work done, both measured in earlier durations. */
  #timeLeft(elapsedMs: number, remainingMs: number): string {
    const doneMs = this.#allMs - remainingMs;
    if (doneMs <= 0) return '';
    const leftMs = (elapsedMs * remainingMs) / doneMs;
    return leftMs < 60_000 ? ', less than a minute left' : `, about ${Math.round(leftMs / 60_000)} min left`;
  }
}
