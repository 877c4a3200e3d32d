import { once } from 'node:events';
import { createServer } from 'node:net';
import { settingName } from './default-settings.ts';
import type { portsOf } from './read-all-settings.ts';

type Port = ReturnType<typeof portsOf>[number];

/** Resolves if all ports are free. @throws an Error that names each port in use and the variable that sets it */
export async function requireFreePorts(ports: readonly Port[], env: NodeJS.ProcessEnv): Promise<void> {
  const faults = await Promise.all(ports.map((port) => tryPort(port, env)));
  if (faults.some(Boolean)) throw new Error(faults.filter(Boolean).join('\n'));
}

async function tryPort({ service, name, host, port }: Port, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return `Port ${port} (${service}) is not available (${code}). Set ${settingName(service, name, env)} to another port.`;
  } finally {
    server.close();
  }
}
