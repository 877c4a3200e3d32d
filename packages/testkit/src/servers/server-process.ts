import { readdir, readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { waitUntil } from '../wait-until.ts';

/** A server that a test can freeze, kill and restart at the same address. */
export interface StoppableServer {
  /** Freezes it (SIGSTOP): its sockets stay open without a response. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Ends it without warning (SIGKILL). */
  kill(): Promise<void>;
  /** Restarts it, after killing it if needed. Resolves when it is ready again. */
  restart(): Promise<void>;
}

interface Start {
  readonly command: readonly [string, ...string[]];
  readonly env?: NodeJS.ProcessEnv;
  readonly isReady: () => Promise<boolean>;
}

/** A server as a child process, which always ends with its parent process. */
export class ServerProcess implements StoppableServer, AsyncDisposable {
  readonly #start: Start;
  #child: ReturnType<typeof spawn> | undefined;
  #output = '';

  private constructor(start: Start) {
    this.#start = start;
  }

  /** @throws Error with the output of the server, if it is not ready in time */
  static async start(start: Start): Promise<ServerProcess> {
    const server = new ServerProcess(start);
    await server.restart();
    return server;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Its standard output and error so far, including earlier runs. */
  get output(): string {
    return this.#output;
  }

  async freeze(): Promise<void> {
    this.#child?.kill('SIGSTOP');
    const { pid } = this;
    if (pid === undefined) return;
    // Threads stop one by one, and some may still respond.
    await waitUntil('the stop of all threads', () => isStopped(pid));
  }

  async thaw(): Promise<void> {
    this.#child?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops it gracefully (SIGTERM) and waits for its exit. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async restart(): Promise<void> {
    await this.kill();
    const { command, isReady } = this.#start;
    const child = spawn(this.#start);
    this.#child = child;
    child.all?.on('data', (chunk) => {
      this.#output += chunk;
    });
    let over = false;
    const ended = child.then(({ exitCode }) => {
      over = true;
      throw new Error(`exited with ${exitCode}`);
    });
    // After an exit, another server may get the port.
    const ready = waitUntil('a response', async () => over || isReady());
    await Promise.race([ready, ended]).catch(async (cause) => {
      await this.kill();
      throw new Error(`${command.join(' ')} did not start:\n${this.#output}`, { cause });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#child?.kill(signal);
    await this.#child;
    this.#child = undefined;
  }
}

async function isStopped(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`);
  const states = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')));
  return states.every((state) => /\) T /.test(state));
}

// execa ends its children if this process exits; if it is killed, only the kernel can. By default it kills those that take 5 seconds to stop.
function spawn({ command, env = {} }: Start) {
  const args = ['--pdeathsig', 'KILL', '--', ...command];
  return execa('setpriv', args, { reject: false, all: true, stdin: 'ignore', env, forceKillAfterDelay: false });
}
