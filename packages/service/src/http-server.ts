import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

interface Listening {
  readonly host: string;
  readonly port: number;
  /** Aborted when the process has begun to stop: from then on every answer says `Connection: close`. */
  readonly stopping: AbortSignal;
  /** How long requests that run may take to finish after the listener has closed. */
  readonly graceSeconds: number;
}

// Longer than proxies keep theirs (nginx and ingress-nginx 60 s): so it is they who end one, and no request is on its way in it.
const keptMs = 75_000;
// How long connections that ask nothing are kept when the listener has closed: a request may be on its way in them.
const lingerMs = 1000;
// How long one that has never asked anything is kept from when it was accepted: on a busy machine its client may not have had a turn yet.
const silentMs = 2000;
// Timers may end a moment early, by the clock of `performance.now`.
const earlyMs = 50;

const cutOff = new WeakSet<ServerResponse>();

/** Whether it was a stop that ended this answer, as its grace was over, and not the client. */
export function wasCutOff(response: ServerResponse): boolean {
  return cutOff.has(response);
}

/**
 * Opens the listener of `server`. Disposing closes it, answers what is on its way, lets running requests finish within the grace, then
 * ends their connections.
 * @throws the system's error when the address cannot be had
 */
export async function listen(
  server: Server,
  { host, port, stopping, graceSeconds }: Listening,
): Promise<AsyncDisposable> {
  server.keepAliveTimeout = keptMs;
  const connections = new Map<Socket, { answers: number; heard: number; acceptedAt: number }>();
  const running = new Set<ServerResponse>();
  let hasLingered = false;
  // Node counts a connection idle whose answer is still on its way out, and busy one that has never asked anything.
  const endIdle = () => {
    const isOnItsWay = [...running].some(({ writableEnded }) => writableEnded);
    if (!isOnItsWay) server.closeIdleConnections();
    for (const [socket, { answers, heard, acceptedAt }] of connections) {
      const isQuiet = isOnItsWay && answers === 0 && socket.bytesRead === heard;
      const isSilent = performance.now() - acceptedAt >= silentMs;
      if (socket.bytesRead > 0 ? isQuiet : isSilent) socket.destroy();
    }
  };
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { answers: 0, heard: 0, acceptedAt: performance.now() });
    socket.once('close', () => connections.delete(socket));
  });
  const begun = ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (stopping.aborted) response.setHeader('Connection', 'close');
    const connection = connections.get(socket);
    running.add(response);
    if (connection) connection.answers += 1;
    response.once('close', () => {
      running.delete(response);
      if (connection) {
        connection.answers -= 1;
        connection.heard = socket.bytesRead;
      }
      // One whose head was already sent when the stop began has left its connection open.
      if (hasLingered) endIdle();
    });
  };
  stopping.addEventListener('abort', () => {
    for (const response of running) if (!response.headersSent) response.setHeader('Connection', 'close');
  });
  server.prependListener('request', begun);
  // Whoever listens for these must answer them: a server that does not handle them leaves them to Node.
  for (const event of ['checkContinue', 'checkExpectation'])
    if (server.listenerCount(event) > 0) server.prependListener(event, begun);
  server.listen(port, host);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      await shortTurn();
      const closed = once(server, 'close');
      // Not the server's own close: it would end connections at once that are kept, and in which a request may be on its way.
      Listener.prototype.close.call(server);
      const graceMs = graceSeconds * 1000;
      const lingering = setTimeout(
        () => {
          hasLingered = true;
          endIdle();
          // None was accepted after the listener closed, so none has been silent for less then.
          setTimeout(endIdle, silentMs - lingerMs + earlyMs).unref();
        },
        Math.min(lingerMs, graceMs),
      );
      const forced = setTimeout(() => {
        for (const response of running) cutOff.add(response);
        server.closeAllConnections();
      }, graceMs);
      await closed;
      clearTimeout(lingering);
      clearTimeout(forced);
      // Ends Node's own timer for slow heads.
      server.close();
    },
  };
}

// The system resets connections that wait for a listener when it is closed. So all that have come are accepted first, and the close follows a turn
// in which there was little else to do: at most so many turns later.
const mostTurns = 100;
const shortTurnMs = 1;

async function shortTurn(): Promise<void> {
  await nextTurn();
  for (let turns = 0; turns < mostTurns; turns += 1) {
    const began = performance.now();
    await nextTurn();
    if (performance.now() - began < shortTurnMs) return;
  }
}
