import { execa } from 'execa';
import { expect, test } from 'vitest';
import { allocatorSettings, availableAllocator } from './allocator.ts';

const script = 'process.stdout.write(require("node:fs").readFileSync("/proc/self/maps"))';

// Debian has the library after `node deploy/local/system-tools.ts`, with which tests begin.
test('a process uses the allocator of images if the system has it, and starts without a word if not', async () => {
  const { stdout: libraries } = await execa('/sbin/ldconfig', ['-p']);
  const env = availableAllocator();
  const { stdout, stderr } = await execa(process.execPath, ['-e', script], { env });
  expect({ isUsed: stdout.includes(allocatorSettings.LD_PRELOAD), stderr }).toEqual({
    isUsed: libraries.includes(allocatorSettings.LD_PRELOAD),
    stderr: '',
  });
});
