import { once } from 'node:events';
import { createServer } from 'node:net';
import pRetry from 'p-retry';
import { typedName } from './local-environment.ts';
import type { ServiceName } from './services.ts';

interface AskedPort {
  readonly service: ServiceName;
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** What has just been killed may need a moment to let go of its ports. */
const patience = { retries: 10, minTimeout: 500, factor: 1 };

/**
 * Resolves when all the ports can be had.
 * @throws an Error that names all that another program has, after five seconds, and what in `env` sets them; or the signal's reason
 */
export async function requireFree(
  ports: readonly AskedPort[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  await pRetry(
    async () => {
      const taken = (await Promise.all(ports.map((port) => trouble(port, env)))).filter((line) => line !== undefined);
      if (taken.length > 0) throw new Error(taken.join('\n'));
    },
    { ...patience, signal },
  );
}

async function trouble({ service, name, host, port }: AskedPort, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return `port ${port} of the ${service} cannot be had (${code}); ${typedName(service, name, env)} sets another one`;
  } finally {
    server.close();
  }
}
