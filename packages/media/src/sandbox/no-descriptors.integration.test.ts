import { execa } from 'execa';
import { expect, test } from 'vitest';

const script = `
  import { openSync } from 'node:fs';
  import { runTool } from ${JSON.stringify(import.meta.resolve('./run-tool.ts'))};
  try {
    for (;;) openSync('/dev/null');
  } catch {}
  const limits = { seconds: 60, cpuSeconds: 5, addressBytes: 1e9, fileBytes: 0 };
  const signal = new AbortController().signal;
  await runTool(['true'], limits, { signal }).catch(({ name, message }) => console.log(name, message));
`;

test('survives if no file descriptor is free for a tool', async () => {
  const node = [process.execPath, '--input-type=module', '--eval', script];
  const { stdout } = await execa('prlimit', ['--nofile=256', ...node], { reject: false });
  expect(stdout).toBe('ToolFailed sandbox did not start');
});
