import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { expect, test } from 'vitest';

/** Waits for a file forever, as on a hanging file system. */
const hanging = `
  import { open } from 'node:fs/promises';
  import { stopSignal } from ${JSON.stringify(join(import.meta.dirname, 'stop-signals.ts'))};
  stopSignal().addEventListener('abort', () => console.log('stopping'));
  console.log('started');
  await open(process.argv[1]);
`;

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('a second %s ends a process that hangs', async (signal) => {
  const folder = await mkdtemp(join(tmpdir(), 'stop-signals-'));
  await execa('mkfifo', [join(folder, 'fifo')]);
  const child = spawn(process.execPath, ['--input-type=module', '-e', hanging, join(folder, 'fifo')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit', { signal: AbortSignal.timeout(10_000) });
  try {
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(String(await once(child.stdout, 'data'))).toBe('stopping\n');
    child.kill(signal);
    // One Ctrl-C may arrive twice; only after a second it counts as another.
    await sleep(1200);
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    child.kill(signal);
    expect(await ended).toEqual([null, signal]);
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});
