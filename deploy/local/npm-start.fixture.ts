import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { variableOf as variable } from '@echodrop/client/local-system';
import { freePorts } from '@echodrop/testkit/free-ports';
import { isRunning } from '@echodrop/testkit/is-running';
import { patientSettings } from '@echodrop/testkit/patience';
import { signalIfRunning } from '@echodrop/testkit/signal-if-running';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect } from 'vitest';

export const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const listeners = ['gateway', 'site', 'auth-verifier', 'sandbox-provider'] as const;
export const services = [...listeners, 'probe-worker', 'rendition-worker'] as const;

export type Service = (typeof services)[number];

/** `npm start` in a new DATA_DIR on free ports, one run after another. Disposing kills what remains of it and removes the folder. */
export class NpmStart implements AsyncDisposable {
  /** What the current run has printed. */
  output = '';
  readonly dataDir: string;
  readonly #ports: Readonly<Record<string, string>>;
  #npm: ChildProcess | undefined;
  #closed: Promise<unknown> | undefined;
  readonly #seen = new Set<number>();

  private constructor(dataDir: string, ports: Readonly<Record<string, string>>) {
    this.dataDir = dataDir;
    this.#ports = ports;
  }

  static async prepare(): Promise<NpmStart> {
    const own = Object.entries(await freePorts(listeners)).map(([name, port]) => [variable(name, 'PORT'), `${port}`]);
    const ops = Object.entries(await freePorts(services)).map(([name, port]) => [
      variable(name, 'OPS_PORT'),
      `${port}`,
    ]);
    return new NpmStart(await mkdtemp(join(tmpdir(), 'npm-start-')), Object.fromEntries([...own, ...ops]));
  }

  /** The environment that `npm run` commands for this system need. */
  get settings(): Record<string, string> {
    return { DATA_DIR: this.dataDir, ...this.#ports };
  }

  /** Runs it as a terminal does: npm is the leader of a process group. */
  start(settings: Record<string, string> = {}): ChildProcess {
    this.output = '';
    const npm = spawn('npm', ['start'], {
      cwd: root,
      env: { ...process.env, ...patientSettings, ...this.settings, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (text) => (this.output += text));
    this.#npm = npm;
    this.#closed = once(npm, 'close');
    return npm;
  }

  async untilReady(running: number = services.length): Promise<void> {
    const hasEnded = () => this.#npm?.exitCode !== null;
    await waitUntil('ready', async () => /^echodrop +ready$/m.test(this.output) || hasEnded());
    expect(this.output).toMatch(/^echodrop +ready$/m);
    expect((await this.descendants()).length).toBeGreaterThanOrEqual(running + 2);
  }

  /** All descendants of npm; `untilEnded` waits for them. */
  async descendants(): Promise<{ pid: number; command: string }[]> {
    const { stdout } = await run('ps', ['axo', 'pid=,ppid=,command='], { maxBuffer: 64 << 20 });
    const all = [...stdout.matchAll(/^ *(\d+) +(\d+) +(.*)$/gm)].map(([, pid, parent, command = '']) => ({
      pid: Number(pid),
      parent: Number(parent),
      command,
    }));
    const below = (parent: number): typeof all =>
      all.filter((each) => each.parent === parent).flatMap((each) => [each, ...below(each.pid)]);
    const found = this.#npm?.pid === undefined ? [] : below(this.#npm.pid);
    for (const { pid } of found) this.#seen.add(pid);
    return found;
  }

  async pidOf(pattern: RegExp): Promise<number> {
    const found = (await this.descendants()).find(({ command }) => pattern.test(command));
    if (!found) throw new Error(`no process is called ${pattern}`);
    return found.pid;
  }

  /** Waits until no process remains, and `output` is complete. */
  async untilEnded(): Promise<void> {
    await waitUntil('all processes to end', async () => this.#remaining().length === 0);
    await this.#closed;
  }

  #remaining(): number[] {
    return [...this.#seen].filter(isRunning);
  }

  async killAll(): Promise<void> {
    await this.descendants();
    for (const pid of this.#remaining()) signalIfRunning(pid, 'SIGKILL');
    // The next run needs their ports and the lock of the folder.
    await waitUntil('all killed processes to end', async () => this.#remaining().length === 0);
    this.#seen.clear();
  }

  portOf(service: Service, name: 'PORT' | 'OPS_PORT'): string | undefined {
    return this.#ports[variable(service, name)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killAll();
    await rm(this.dataDir, { recursive: true, maxRetries: 5 });
  }
}
