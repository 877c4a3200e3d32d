import { once } from 'node:events';
import { createServer } from 'node:http';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { freePort, freePorts } from './free-ports.ts';

/** What a process is told that looks for a port from `lowest` to `highest`, and ends. */
async function toldElsewhere(lowest: number, highest = lowest): Promise<string> {
  const look = `import { freePort } from ${JSON.stringify(import.meta.resolve('./free-ports.ts'))};
    console.log(await freePort({ lowest: ${lowest}, highest: ${highest} }).catch(({ message }) => message));`;
  return (await execa(process.execPath, ['--input-type=module', '--eval', look], { timeout: 20_000 })).stdout;
}

test('a port that one process was given is given to no other, though nobody listens there yet', async () => {
  const port = await freePort();
  expect(await toldElsewhere(port)).toBe(`no port from ${port} to ${port} is free`);
});

test('nor twice to the same, however many are asked for at once', async () => {
  const names = Array.from({ length: 200 }, (_, n) => `${n}`);
  expect(new Set(Object.values(await freePorts(names))).size).toBe(200);
});

test('a port is free again when the process has ended that had it, unless somebody listens there', async () => {
  const port = Number(await toldElsewhere(10_081, 32_767));
  expect(await toldElsewhere(port)).toBe(`${port}`);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(await toldElsewhere(port)).toContain('no port');
  server.close();
});
