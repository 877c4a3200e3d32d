import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { freePort } from './free-ports.ts';
import { ServerProcess, type StoppableServer } from './server-process.ts';

/** A Redis of a test's own. */
export interface RunningRedis extends StoppableServer, AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number | undefined;
  /** Asks it to end by itself; `restart` brings it back. */
  stop(): Promise<void>;
  /** What redis-cli prints for a command. */
  command(...words: string[]): Promise<string>;
}

/**
 * Starts the redis-server or valkey-server that is in PATH, on a free port of 127.0.0.1. With `persistent` it writes an
 * append-only file, so that a restart finds what was there; else a restart is empty. Disposing ends it and removes its files.
 * @throws Error where there is neither program
 */
export async function startRedis({ persistent = false } = {}): Promise<RunningRedis> {
  const program = await redisProgram();
  const directory = await mkdtemp(join(tmpdir(), 'echodrop-redis-'));
  const port = await freePort();
  const settings = {
    port: `${port}`,
    bind: '127.0.0.1',
    dir: directory,
    save: '',
    appendonly: persistent ? 'yes' : 'no',
    loglevel: 'warning',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const server = await ServerProcess.start({ command: [program, ...args], answers: () => pongs(port) });
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
    command: async (...words) => (await execa('redis-cli', ['-p', `${port}`, ...words])).stdout,
    async [Symbol.asyncDispose]() {
      await server.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function redisProgram(): Promise<string> {
  for (const program of ['redis-server', 'valkey-server']) {
    const { failed } = await execa(program, ['--version'], { reject: false });
    if (!failed) return program;
  }
  throw new Error('tests need redis-server or valkey-server in PATH (Debian: apt-get install redis-server)');
}

function pongs(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.setTimeout(1000, () => socket.destroy());
    socket.once('data', (answer) => {
      resolve(answer.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => {});
    socket.once('close', () => resolve(false));
  });
}
