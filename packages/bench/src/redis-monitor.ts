import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Counts of BullMQ's scripts, and of other commands by name. Calls inside scripts do not count. */
export interface RedisCounts {
  scripts: number;
  others: Record<string, number>;
}

// `+1700000000.1 [0 127.0.0.1:5000] "evalsha" "<sha>" "<number of keys>" "<first key>" ...`, with `lua` if a script calls.
const line = /^\+[\d.]+ \[\d+ ([^\]]*)\] "([^"]*)"(?: "[^"]*" "\d+" "([^"]*)")?/;
const queueKey = /^\{echodrop\}:(probe|rendition)/;

/** Counts the commands of all other clients of a Redis until disposed. */
export class RedisMonitor implements Disposable {
  readonly #socket: Socket;
  #rest = '';
  /** Since the last `take`. */
  counted: RedisCounts = { scripts: 0, others: {} };

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

  take(): RedisCounts {
    const taken = this.counted;
    this.counted = { scripts: 0, others: {} };
    return taken;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    const lines = `${this.#rest}${text}`.split('\r\n');
    this.#rest = lines.pop() ?? '';
    for (const each of lines) {
      const [, client = 'lua', name = '', firstKey = ''] = line.exec(each) ?? [];
      const command = name.toLowerCase();
      if (client === 'lua') continue;
      if (command.startsWith('eval') && queueKey.test(firstKey)) this.counted.scripts += 1;
      else this.counted.others[command] = (this.counted.others[command] ?? 0) + 1;
    }
  }
}
