import { once } from 'node:events';
import { createServer } from 'node:http';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { freePort, freePorts } from './free-ports.ts';

/** The output of a process that looks for a port from `lowest` to `highest`. */
async function toldElsewhere(lowest: number, highest = lowest): Promise<string> {
  const look = `import { freePort } from ${JSON.stringify(import.meta.resolve('./free-ports.ts'))};
    console.log(await freePort({ lowest: ${lowest}, highest: ${highest} }).catch(({ message }) => message));`;
  return (await execa(process.execPath, ['--input-type=module', '--eval', look], { timeout: 20_000 })).stdout;
}

test('gives no process the port of another, even before it listens', async () => {
  const port = await freePort();
  expect(await toldElsewhere(port)).toBe(`no port from ${port} to ${port} is free`);
});

test('gives a process no port twice, even concurrently', async () => {
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
