import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Aborted at the start of the shutdown: from then on every response says `Connection: close`. */
  readonly stopping: AbortSignal;
  /** Time for running requests to finish after the listener has closed. */
  readonly graceSeconds: number;
}

// Proxies have a shorter time (nginx and ingress-nginx: 60 s). So the proxy closes an idle connection, and no request is lost in it.
const keepAliveMs = 75_000;
// Idle connections stay open this long after the listener has closed: a request may be on its way.
const lingerMs = 1000;
// A connection without any request stays open this long after it was accepted: its client may be slow.
const silentMs = 2000;
// Timers may fire slightly early by the clock of `performance.now`.
const timerMarginMs = 50;

const cutOff = new WeakSet<ServerResponse>();

/** Whether the end of the shutdown's grace period ended this response, not the client. */
export function wasCutOff(response: ServerResponse): boolean {
  return cutOff.has(response);
}

/** Calls `track` first for every request to `server`. */
export function trackRequests(server: Server, track: (request: IncomingMessage, response: ServerResponse) => void) {
  server.prependListener('request', track);
  // Without a listener, Node emits a request.
  if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', track);
}

/**
 * Starts to listen. Disposing closes the listener, handles requests on their way, lets requests finish within the grace period,
 * then closes their connections.
 * @throws the system's error if the address is not available
 */
export async function listen(
  server: Server,
  { host, port, stopping, graceSeconds }: ListenOptions,
): Promise<AsyncDisposable> {
  server.keepAliveTimeout = keepAliveMs;
  // Otherwise Node responds with 417 itself, and no limit or log sees the request.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  const { running, closeIdle } = trackConnections(server, stopping);
  server.listen(port, host);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      await acceptPending();
      const closed = once(server, 'close');
      // The server's own close would close idle connections at once, in which a request may be on its way.
      Listener.prototype.close.call(server);
      const graceMs = graceSeconds * 1000;
      const lingering = setTimeout(
        () => {
          closeIdle();
          // By then even the last accepted connection was silent for long enough.
          setTimeout(closeIdle, silentMs - lingerMs + timerMarginMs).unref();
        },
        Math.min(lingerMs, graceMs),
      );
      const forced = setTimeout(() => {
        for (const response of running()) cutOff.add(response);
        server.closeAllConnections();
      }, graceMs);
      await closed;
      clearTimeout(lingering);
      clearTimeout(forced);
      // This stops Node's timer for slow request heads.
      server.close();
    },
  };
}

/** `closeIdle` closes idle connections, and from then on each connection that becomes idle. */
function trackConnections(server: Server, stopping: AbortSignal) {
  const connections = new Map<Socket, { responses: Set<ServerResponse>; readBytes: number; acceptedAt: number }>();
  const running = () => [...connections.values()].flatMap(({ responses }) => [...responses]);
  let isClosing = false;
  // To Node, a connection that is still sending its response is idle, and one without any request is busy.
  const closeIdle = () => {
    isClosing = true;
    const isSending = running().some(({ writableEnded }) => writableEnded);
    if (!isSending) server.closeIdleConnections();
    for (const [socket, { responses, readBytes, acceptedAt }] of connections) {
      const isQuiet = isSending && responses.size === 0 && socket.bytesRead === readBytes;
      const isSilent = performance.now() - acceptedAt >= silentMs;
      if (socket.bytesRead > 0 ? isQuiet : isSilent) socket.destroy();
    }
  };
  server.on('connection', (socket: Socket) => {
    const responses = new Set<ServerResponse>();
    connections.set(socket, { responses, readBytes: 0, acceptedAt: performance.now() });
    socket.once('close', () => {
      connections.delete(socket);
      // Node forgets the responses of a connection after a CONNECT: they would never close.
      for (const response of responses) response.destroy();
    });
  });
  trackRequests(server, ({ socket, headers }, response) => {
    // Node's parser drops what follows the request for an upgrade, which is handled as any other request.
    if (stopping.aborted || headers.upgrade !== undefined) response.setHeader('Connection', 'close');
    const connection = connections.get(socket);
    connection?.responses.add(response);
    response.once('close', () => {
      if (connection) {
        connection.responses.delete(response);
        connection.readBytes = socket.bytesRead;
      }
      // A response whose head was sent before the shutdown keeps its connection open.
      if (isClosing) closeIdle();
    });
  });
  stopping.addEventListener('abort', () => {
    for (const response of running()) if (!response.headersSent) response.setHeader('Connection', 'close');
  });
  return { running, closeIdle };
}

// The system resets connections that wait to be accepted when the listener closes. So it closes after an event loop turn with
// little work, or after this many turns.
const maxTurns = 100;
const shortTurnMs = 1;

async function acceptPending(): Promise<void> {
  await nextTurn();
  for (let turns = 0; turns < maxTurns; turns += 1) {
    const began = performance.now();
    await nextTurn();
    if (performance.now() - began < shortTurnMs) return;
  }
}
