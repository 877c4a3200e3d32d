import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, vi } from 'vitest';
import { runFolder } from './samples/made-once.ts';

// For this process alone, not for the programs that it starts.
delete process.env['MALLOC_TRIM_THRESHOLD_'];

// Programs start in half the processor time if an earlier start left its compiled code.
process.env['NODE_COMPILE_CACHE'] = join(process.env[runFolder] ?? '', 'compiled');

// Test files share processes: what a test replaced must not reach the next one, even if it failed.
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

// A process of 500 MiB takes 30 ms to start a program, a fresh one 1 ms. What a collection leaves, the next one would leave again.
const growth = 256 * 1024 * 1024;
const state = globalThis as { rssAtCollection?: number };

afterAll(() => {
  if (process.memoryUsage.rss() < (state.rssAtCollection ?? 0) + growth) return;
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  state.rssAtCollection = process.memoryUsage.rss();
});
