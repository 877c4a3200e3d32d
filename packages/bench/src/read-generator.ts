/** A process that reads one address many times when its parent says so. It is not measured. */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { ReadLoad } from './read-load.ts';

process.on('message', async (load: ReadLoad) => process.send?.(await readAll(load)));
process.on('disconnect', () => process.exit());
process.send?.('ready');

async function readAll(load: ReadLoad): Promise<number> {
  const { requests, connections } = load;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let sent = 0;
  let wrong = 0;
  const readSome = async () => {
    while (sent < requests) {
      sent += 1;
      if (!(await isRead(load, agent, sent))) wrong += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, readSome));
  return wrong;
}

async function isRead(load: ReadLoad, agent: Agent, n: number): Promise<boolean> {
  // The proxy limits the requests of each address.
  const headers = { 'X-Forwarded-For': `198.18.${n % 200}.1` };
  const [response] = (await once(get(load.url, { agent, headers }), 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  if (response.statusCode === 503 && load.isPatient) return isRead(load, agent, n);
  return response.statusCode === 200 && bytes === (load.bytes ?? bytes);
}
