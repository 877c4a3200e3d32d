import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { startInSandbox } from './sandbox.ts';

const limits = { seconds: 600, cpuSeconds: 5, addressBytes: 1024 ** 3, fileBytes: 0 };

test.each([
  [0, getPriority()],
  [10, 10],
])('runs a tool with niceness %i at priority %i', async (niceness, priority) => {
  const child = startInSandbox(['sleep', '600'], { ...limits, niceness }, {});
  using _ = { [Symbol.dispose]: () => child.kill('SIGKILL') };
  await expect.poll(() => getPriority(child.pid)).toBe(priority);
});
