import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../find-program.ts';
import { freePort } from '../free-ports.ts';
import { type Login, redisCommand } from './redis-command.ts';
import { ServerProcess, type StoppableServer } from './server-process.ts';

export interface RunningRedis extends StoppableServer, AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number | undefined;
  /** Stops it gracefully; `restart` starts it again. */
  stop(): Promise<void>;
  /** Runs a command. @returns the reply as redis-cli prints it */
  command(...words: string[]): Promise<string>;
  /** Runs a command as a user. */
  commandAs(login: Login, ...words: string[]): Promise<string>;
}

// As in docker-compose.yml.
const image = 'redis:8-bookworm';

/**
 * Starts redis-server or valkey-server from PATH on a free loopback port, or a container if REQUIRE_CONTAINERS=1. If
 * `persistent`, an append-only file keeps its data across restarts. `more` are settings of redis.conf. Disposing ends it and
 * removes its files.
 * @throws Error if no program or no Docker engine is found
 */
export async function startRedis({
  persistent = false,
  more = {},
}: {
  readonly persistent?: boolean;
  readonly more?: Record<string, string>;
} = {}): Promise<RunningRedis> {
  const own = { save: '', appendonly: persistent ? 'yes' : 'no', loglevel: 'warning', ...more };
  if (process.env.REQUIRE_CONTAINERS === '1') return startRedisContainer(own);
  const program = await redisProgram();
  const directory = await mkdtemp(join(tmpdir(), 'echodrop-redis-'));
  const port = await freePort();
  const settings = {
    port: `${port}`,
    bind: '127.0.0.1',
    dir: directory,
    ...own,
  };
  const server = await ServerProcess.start({
    command: [program, ...asArguments(settings)],
    isReady: () => pongs(port),
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid;
    },
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    kill: () => server.kill(),
    stop: () => server.stop(),
    restart: () => server.restart(),
    ...commandsAt(port),
    async [Symbol.asyncDispose]() {
      await server.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function startRedisContainer(settings: Record<string, string>): Promise<RunningRedis> {
  const { startContainer } = await import('./stoppable-container.ts');
  const entrypoint = ['redis-server'];
  const command = asArguments({ 'protected-mode': 'no', ...settings });
  const isReady = (host: string, port: number) => pongs(port, host);
  const server = await startContainer({ image, entrypoint, command, port: 6379, isReady });
  return {
    ...server,
    url: `redis://${server.host}:${server.port}`,
    pid: undefined,
    ...commandsAt(server.port, server.host),
  };
}

function commandsAt(port: number, host?: string): Pick<RunningRedis, 'command' | 'commandAs'> {
  return {
    command: (...words) => redisCommand(port, words, { host }),
    commandAs: (login, ...words) => redisCommand(port, words, { host, login }),
  };
}

function asArguments(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

/**
 * Finds redis-server or valkey-server in PATH.
 * @throws Error if neither is found
 */
export async function redisProgram(): Promise<string> {
  for (const program of ['redis-server', 'valkey-server']) {
    if ((await findProgram(program)) !== undefined) return program;
  }
  throw new Error('tests need redis-server or valkey-server in PATH (Debian: apt-get install redis-server)');
}

/** Whether a Redis or sentinel responds at a port, even if it requires a password. */
export async function pongs(port: number, host?: string): Promise<boolean> {
  return /^(PONG|NOAUTH)/.test(await redisCommand(port, ['PING'], { host }));
}
