import { once } from 'node:events';
import { createServer } from 'node:http';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { freePort, freePorts } from './free-ports.ts';
import { patienceMs } from './patience.ts';

/** The result of `freePort` in another process. */
async function freePortElsewhere(lowest: number, highest = lowest): Promise<string> {
  const look = `import { freePort } from ${JSON.stringify(import.meta.resolve('./free-ports.ts'))};
    console.log(await freePort({ lowest: ${lowest}, highest: ${highest} }).catch(({ message }) => message));`;
  return (await execa(process.execPath, ['--input-type=module', '--eval', look], { timeout: patienceMs })).stdout;
}

test('reserves a port across processes, even before a server listens', async () => {
  const port = await freePort();
  expect(await freePortElsewhere(port)).toBe(`no port from ${port} to ${port} is free`);
});

test('never returns a port twice, even concurrently', async () => {
  const names = Array.from({ length: 200 }, (_, n) => `${n}`);
  expect(new Set(Object.values(await freePorts(names))).size).toBe(200);
});

test('frees a port when its process ends, unless a server listens there', async () => {
  const port = Number(await freePortElsewhere(10_081, 32_767));
  expect(await freePortElsewhere(port)).toBe(`${port}`);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(await freePortElsewhere(port)).toContain('no port');
  server.close();
});
