import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Counts commands to Redis: BullMQ's scripts, and all else by name. Calls inside scripts do not count. */
export interface RedisCounts {
  readonly scripts: number;
  readonly others: Readonly<Record<string, number>>;
}

// `+1700000000.1 [0 127.0.0.1:5000] "evalsha" "<sha>" "<number of keys>" "<first key>" ...`, with `lua` where a script is calling.
const line = /^\+[\d.]+ \[\d+ ([^\]]*)\] "([^"]*)"(?: "[^"]*" "\d+" "([^"]*)")?/;
const queueKey = /^\{echodrop\}:(probe|rendition)/;

/** Counts the commands of all other clients of a Redis until it is disposed of. */
export class RedisMonitor implements Disposable {
  readonly #socket: Socket;
  #rest = '';
  #scripts = 0;
  #others: Record<string, number> = {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => this.#read(text));
  }

  static async start(port: number): Promise<RedisMonitor> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('MONITOR\r\n');
    await once(socket, 'readable');
    return new RedisMonitor(socket);
  }

  /** What was counted since it was last taken. */
  get counted(): RedisCounts {
    return { scripts: this.#scripts, others: this.#others };
  }

  take(): RedisCounts {
    const taken = this.counted;
    this.#scripts = 0;
    this.#others = {};
    return taken;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    const lines = `${this.#rest}${text}`.split('\r\n');
    this.#rest = lines.pop() ?? '';
    for (const each of lines) this.#count(each);
  }

  #count(text: string): void {
    const [, client, name = '', firstKey = ''] = line.exec(text) ?? [];
    if (client === undefined || client === 'lua') return;
    const command = name.toLowerCase();
    if (command.startsWith('eval') && queueKey.test(firstKey)) this.#scripts += 1;
    else this.#others[command] = (this.#others[command] ?? 0) + 1;
  }
}
