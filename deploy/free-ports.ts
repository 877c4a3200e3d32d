import { once } from 'node:events';
import { createServer } from 'node:net';
import pRetry from 'p-retry';

interface AskedPort {
  readonly service: string;
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** What has just been killed may need a moment to let go of its ports. */
const patience = { retries: 10, minTimeout: 500, factor: 1 };

/**
 * Resolves when all the ports can be had.
 * @throws an Error that names all that another program has, after five seconds
 */
export async function requireFree(ports: readonly AskedPort[], signal: AbortSignal): Promise<void> {
  await pRetry(
    async () => {
      const taken = (await Promise.all(ports.map(trouble))).filter((line) => line !== undefined);
      if (taken.length > 0) throw new Error(taken.join('\n'));
    },
    { ...patience, signal },
  );
}

async function trouble({ service, name, host, port }: AskedPort): Promise<string | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return `${service}: ${name} ${port} cannot be had (${(error as NodeJS.ErrnoException).code}); another one can be set`;
  } finally {
    server.close();
  }
}
