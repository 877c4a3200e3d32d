import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface HttpResponse {
  readonly status: number;
  readonly body: string;
}

/** A keep-alive HTTP/1.1 connection for prebuilt requests. It does little, so that the load generator costs little. */
export class HttpConnection implements Disposable {
  readonly #socket: Socket;
  #received = '';
  #ended = Promise.withResolvers<HttpResponse>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
      const response = readResponse(this.#received);
      if (!response) return;
      this.#received = '';
      this.#ended.resolve(response);
    });
    socket.on('error', (error) => this.#ended.reject(error));
    socket.on('close', () => this.#ended.reject(new Error(`Connection closed; received: ${this.#received}`)));
    // The connection may close while no request waits.
    this.#ended.promise.catch(() => {});
  }

  static async open(port: number): Promise<HttpConnection> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    await once(socket, 'connect');
    return new HttpConnection(socket);
  }

  /** Sends one request and waits for its response. @throws Error if the connection closes first */
  async send(head: Buffer, body: readonly Buffer[]): Promise<HttpResponse> {
    await this.write([head, ...body]);
    return this.response();
  }

  /** Writes no faster than the socket takes. */
  async write(chunks: readonly Buffer[]): Promise<void> {
    this.#socket.cork();
    for (const chunk of chunks) {
      if (this.#socket.write(chunk)) continue;
      this.#socket.uncork();
      await Promise.race([once(this.#socket, 'drain'), this.#ended.promise]);
      this.#socket.cork();
    }
    this.#socket.uncork();
  }

  /** The response to what was written. @throws Error if the connection closes first */
  async response(): Promise<HttpResponse> {
    const response = await this.#ended.promise;
    this.#ended = Promise.withResolvers();
    this.#ended.promise.catch(() => {});
    return response;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

function readResponse(text: string): HttpResponse | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0 || text.startsWith('HTTP/1.1 100')) return undefined;
  const [head, body] = [text.slice(0, headEnd), text.slice(headEnd + 4)];
  const status = Number(head.slice(9, 12));
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
  return body.length >= length ? { status, body } : undefined;
}
