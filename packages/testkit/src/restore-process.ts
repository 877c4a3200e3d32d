import { afterEach, vi } from 'vitest';

// Test files share processes: what a test replaced must not reach the next one, even if it failed.
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
