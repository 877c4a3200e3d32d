import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitUntil } from './wait-until.ts';

export interface RawResponse {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** A client that writes exactly the given bytes, and reads concurrently. */
export class RawClient implements AsyncDisposable {
  readonly #socket: Socket;
  #received = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#received += chunk.toString('latin1');
    });
    // A reset is visible in `closed` and `received`.
    socket.on('error', () => {});
  }

  static async connect(address: string): Promise<RawClient> {
    const { hostname, port } = new URL(address);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  /** Writes the head of a POST, chunked if `length` is undefined. */
  head(path: string, headers: Record<string, string>, length?: number): void {
    const framing = length === undefined ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': `${length}` };
    const lines = Object.entries({ Host: 'gateway', ...headers, ...framing }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    this.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  }

  /** @returns whether the kernel has accepted everything written so far */
  write(bytes: string | Buffer): boolean {
    return this.#socket.destroyed || this.#socket.write(bytes);
  }

  /** Writes, and resolves when the kernel has accepted the bytes or the connection is closed. */
  async flush(bytes: Buffer): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
  }

  get received(): string {
    return this.#received;
  }

  get closed(): boolean {
    return this.#socket.closed;
  }

  get bytesTaken(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }

  /** Waits for the complete final response. */
  async response(): Promise<RawResponse> {
    await waitUntil('a complete response', async () => this.#parsed() !== undefined);
    return this.#parsed() as RawResponse;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
  }

  #parsed(): RawResponse | undefined {
    const final = this.#received.replace(/^(?:HTTP\/1\.1 1\d\d [\s\S]*?\r\n\r\n)+/, '');
    const [head = '', ...rest] = final.split('\r\n\r\n');
    const body = rest.join('\r\n\r\n');
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (rest.length === 0 || length === undefined || body.length < Number(length)) return undefined;
    return { status: Number(head.split(' ')[1]), head, body };
  }
}
