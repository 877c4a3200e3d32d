import { patienceMs } from '@echodrop/testkit/patience';
import { afterAll, expect, test } from 'vitest';
import { runTool, ToolFailed, ToolStopped, withDeadline } from './run-tool.ts';
import { setSandboxMode } from './sandbox.ts';

const limits = { seconds: 1000, cpuSeconds: 30, addressBytes: 1024 ** 3, fileBytes: 0 };

function run(...tool: readonly [string, ...string[]]) {
  return async (signal: AbortSignal) => (await runTool(tool, limits, { signal })).end;
}

// `sleep` and similar tools need more than media tools.
setSandboxMode('limits-only');
afterAll(() => setSandboxMode('full'));

const never = new AbortController().signal;
const enough = patienceMs / 1000;

test('returns how a tool ended before its deadline', async () => {
  expect(await withDeadline(enough, never, run('true'))).toBe('done');
  expect(await withDeadline(enough, never, run('false'))).toBe('broken');
});

test('kills a tool at its deadline and returns timed_out', async () => {
  const began = performance.now();
  expect(await withDeadline(1, never, run('sleep', '1000'))).toBe('timed_out');
  expect(performance.now() - began).toBeLessThan(patienceMs);
});

test('rejects if a tool is missing or the job is cancelled', async () => {
  await expect(withDeadline(enough, never, run('no-such-tool'))).rejects.toThrow(ToolFailed);
  await expect(withDeadline(enough, AbortSignal.timeout(100), run('sleep', '1000'))).rejects.toThrow('timeout');
});

test.each([
  ...['exit 137', 'exit 124', 'exit 125', 'exit 126', 'exit 127'],
  ...['KILL', 'TERM', 'INT', 'HUP', 'ALRM'].map((name) => `kill -${name} $$`),
])('reports a tool that ends like "%s" as stopped: the media need not be at fault', async (end) => {
  await expect(run('sh', '-c', end)(never)).rejects.toThrow(ToolStopped);
});
