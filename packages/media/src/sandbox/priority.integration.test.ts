import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { startInSandbox } from './sandbox.ts';

const limits = { seconds: 10, cpuSeconds: 5, addressBytes: 1024 ** 3, fileBytes: 0 };

test.each([0, 10])('runs a tool at priority %i', async (niceness) => {
  const child = startInSandbox(['sleep', '10'], { ...limits, niceness }, {});
  using _ = { [Symbol.dispose]: () => child.kill('SIGKILL') };
  await expect.poll(() => getPriority(child.pid), { timeout: 5000 }).toBe(niceness);
});
