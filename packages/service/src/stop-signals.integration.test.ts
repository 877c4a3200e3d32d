import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { patientSignal } from '@echodrop/testkit/patience';
import { execa } from 'execa';
import { expect, test } from 'vitest';

/** Waits for a file forever, as on a hanging file system. Its clock stands still, and a line of input moves it by 1.2 seconds. */
const hanging = `
  import { open } from 'node:fs/promises';
  import { stopSignal } from ${JSON.stringify(join(import.meta.dirname, 'stop-signals.ts'))};
  let now = performance.now();
  performance.now = () => now;
  process.stdin.on('data', () => {
    now += 1200;
    console.log('later');
  });
  stopSignal().addEventListener('abort', () => console.log('stopping'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => console.log('signal'));
  console.log('started');
  await open(process.argv[1]);
`;

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('a second %s ends a process that hangs', async (signal) => {
  const folder = await mkdtemp(join(tmpdir(), 'stop-signals-'));
  await execa('mkfifo', [join(folder, 'fifo')]);
  const child = spawn(process.execPath, ['--input-type=module', '-e', hanging, join(folder, 'fifo')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit', { signal: patientSignal() });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => (await lines.next()).value;
  try {
    expect(await line()).toBe('started');
    child.kill(signal);
    expect([await line(), await line()]).toEqual(['stopping', 'signal']);
    // One Ctrl-C may arrive twice; only after a second it counts as another.
    child.kill(signal);
    expect(await line()).toBe('signal');
    child.stdin.write('later\n');
    expect(await line()).toBe('later');
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    child.kill(signal);
    expect(await ended).toEqual([null, signal]);
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});
