import { once } from 'node:events';
import { connect } from 'node:net';
import { patientSignal } from '../patience.ts';

/** What a stranger may send to a public address. It has no valid credentials. */
export interface HostileRequest {
  readonly name: string;
  readonly to: 'gateway' | 'site' | 'verifier';
  /** The bytes on the connection, one write each. */
  readonly packets: readonly (string | Buffer)[];
  /** After the last packet. Default: waits for the server to close the connection. */
  readonly ending?: 'end' | 'reset';
}

/** Characters that a log or a terminal must not receive, as bytes of a request (UTF-8) and as percent-encoding. */
export const hostileText = '\u009b31m\u202e\u2028\u200b\u007f\ufeff\u{e0041}';
export const inHeaders = Buffer.from(hostileText.replace('\u007f', '')).toString('latin1');
export const inPaths = encodeURIComponent(hostileText);

interface Options {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly ending?: HostileRequest['ending'];
}

/** A request over HTTP/1.1, after which the connection closes. */
export function request(to: HostileRequest['to'], name: string, line: string, options: Options = {}): HostileRequest {
  const { headers = {}, body = '', ending } = options;
  const length = body.length > 0 &&
    headers['Transfer-Encoding'] === undefined && { 'Content-Length': `${body.length}` };
  const all = { Host: 'hostile.example', Connection: 'close', ...length, ...headers };
  const lines = Object.entries(all).map(([field, value]) => `${field}: ${value}\r\n`);
  const head = Buffer.from(`${line} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return { name: `${to}: ${name}`, to, packets: [head, Buffer.from(body)], ...(ending && { ending }) };
}

/** Bytes that may be no request, after which the client closes its half of the connection. */
export function raw(to: HostileRequest['to'], name: string, ...packets: readonly string[]): HostileRequest {
  const bytes = packets.map((packet) => Buffer.from(packet, 'latin1'));
  return { name: `${to}: ${name}`, to, packets: bytes, ending: 'end' };
}

/** Sends a hostile request to an origin, and resolves when the connection is closed. */
export async function sendHostile(origin: string, { packets, ending }: HostileRequest): Promise<void> {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, allowHalfOpen: ending === 'end' });
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
  const patience = patientSignal();
  patience.addEventListener('abort', () => reject(patience.reason));
  // A server may reset a connection that it refuses.
  socket
    .on('error', () => {})
    .once('close', () => resolve())
    .resume();
  await once(socket, 'connect');
  for (const packet of packets) await new Promise((written) => socket.write(packet, written));
  if (ending === 'end') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
  await closed;
}
