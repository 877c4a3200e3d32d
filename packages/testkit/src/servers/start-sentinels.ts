import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-ports.ts';
import { waitUntil } from '../wait-until.ts';
import { redisCommand } from './redis-command.ts';
import { ServerProcess } from './server-process.ts';
import { pongs, redisProgram } from './start-redis.ts';

interface Watch {
  /** Name and port of the master. */
  readonly name: string;
  readonly masterPort: number;
  readonly replicas: number;
  /** The time without a reply after which a server counts as down. */
  readonly downAfterMs: number;
}

interface Sentinels extends AsyncDisposable {
  readonly ports: readonly number[];
  /** The current port of the master. */
  masterPort(): Promise<number>;
  /** Changes the time without a reply after which a server counts as down. */
  setDownAfter(ms: number): Promise<void>;
}

const count = 3;
const quorum = 2;

/** Starts three sentinels that know each other and the replicas, and fail over if two of them miss the master. */
export async function startSentinels({ name, masterPort, replicas, downAfterMs }: Watch): Promise<Sentinels> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-sentinels-'))).path;
  const program = await redisProgram();
  const start = async () => {
    const port = await freePort();
    const file = join(folder, `${port}.conf`);
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor ${name} 127.0.0.1 ${masterPort} ${quorum}`,
      `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
      `sentinel failover-timeout ${name} 5000`,
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    parts.use(await ServerProcess.start({ command: [program, file, '--sentinel'], isReady: () => pongs(port) }));
    return port;
  };
  const ports = await Promise.all(Array.from({ length: count }, start));
  const send = async (port: number, ...words: string[]) =>
    (await redisCommand(port, ['SENTINEL', ...words])).split('\n');
  await waitUntil('sentinels to discover each other', async () => {
    const replies = await Promise.all(ports.map((port) => send(port, 'MASTER', name)));
    const says = (lines: string[], what: string) => Number(lines[lines.indexOf(what) + 1]);
    return replies.every(
      (lines) => says(lines, 'num-slaves') === replicas && says(lines, 'num-other-sentinels') === count - 1,
    );
  });
  const held = parts.move();
  return {
    ports,
    masterPort: async () => Number((await send(ports[0] ?? 0, 'GET-MASTER-ADDR-BY-NAME', name))[1]),
    async setDownAfter(ms) {
      await Promise.all(ports.map((port) => send(port, 'SET', name, 'down-after-milliseconds', `${ms}`)));
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}
