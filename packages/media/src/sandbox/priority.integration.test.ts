import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { waitForTool } from './bounded-process.ts';
import { startInSandbox } from './sandbox.ts';

const limits = { seconds: 10, cpuSeconds: 5, addressBytes: 1024 ** 3, fileBytes: 0 };

test.each([0, 10])('runs a tool at priority %i', async (niceness) => {
  const stopped = new AbortController();
  const child = startInSandbox(['sleep', '10'], { ...limits, niceness }, {});
  const ended = waitForTool(child, { deadlineMs: 10_000, maxPrintedBytes: 1000, signal: stopped.signal });
  await expect.poll(() => getPriority(child.pid), { timeout: 5000 }).toBe(niceness);
  stopped.abort();
  await expect(ended).rejects.toThrow();
});
