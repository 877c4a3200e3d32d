import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './ip-address.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';

/** Bytes that all responses of a process may hold for their readers. A reader that pauses holds up to 64 KiB. */
export const maxPendingBytes = 128 * 1024 * 1024;
/** The slowest accepted reader, by the bytes that the system takes for it. */
export const minBytesPerMinute = 60 * 1024;
/**
 * How long a reader may take nothing, if it took enough bytes before. The system takes megabytes at once, and the next only when a third of them
 * is sent: at 16 KiB/s after 80 s.
 */
export const maxPauseMs = 180_000;
/** Requests of one connection without a complete response. Browsers and proxies send one. */
const maxPipelined = 4;
/** How often a connection is checked for bytes that belong to no request. The head of a request may take as long. */
export const idleCheckMs = 30_000;
/** What a client may still send of its body after the response. */
export const restOfBody = { maxMs: 30_000, maxBytes: 32 * 1024 * 1024 } as const;

const checkMs = 250;
const minuteMs = 60_000;
const reasons = ['too_slow', 'memory', 'pipelined', 'body_after_response', 'no_request'] as const;
type Reason = (typeof reasons)[number];

interface Running {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedAt: number;
  readonly sentAtStart: number;
  /** Until when the reader has taken enough, at the least accepted pace. */
  pacedUntil: number;
  sentAtPace: number;
}

interface Client {
  readonly socket: Socket;
  /** The address that Express found, through trusted proxies only. */
  readonly ip?: string | undefined;
}

interface Connection {
  /** Requests without a complete response. */
  unfinished: number;
  /** Whether a request came since the last check. */
  hasRequest: boolean;
}

/** What follows of a request's body after its response. */
interface UnreadBody {
  readonly since: number;
  readonly bytesReadBefore: number;
}

/**
 * Limits what the readers of responses make a process hold (docs/decisions/response-limits.md). Resets the connection of
 * - a reader that takes less than 60 KiB a minute; fast reading pays for a pause of up to three minutes;
 * - the slowest readers of the client network that holds the most, while all responses hold more than 128 MiB;
 * - a client that pipelines more than four requests;
 * - a client that sends more than the rest of its body, 32 MiB or 30 s, after the response;
 * - a client that sends bytes without a request for 30 s: Node's parser skips line breaks, and each restarts its time for idle connections.
 */
export function limitResponses(app: RequestListener, metrics: Metrics, log: Log): RequestListener {
  const running = new Map<ServerResponse, Running>();
  const connections = new WeakMap<Socket, Connection>();
  /** Requests with a response, whose body has not ended. */
  const unread = new Map<IncomingMessage, UnreadBody>();
  const closed = metrics.counter(
    'echodrop_connections_closed_total',
    'Connections that the service closed to limit memory, by reason.',
    ['reason'],
  );
  for (const reason of reasons) closed.inc({ reason }, 0);
  let checks: NodeJS.Timeout | undefined;

  const close = (request: Client, reason: Reason) => {
    const { socket } = request;
    if (socket.destroyed) return;
    closed.inc({ reason });
    log.info({ reason, clientAddress: addressOf(request), bytesSent: sentBytes(socket) }, 'Connection closed');
    // After a mere close, the system would hold megabytes for minutes, until it gives up sending them.
    socket.resetAndDestroy();
    stopParsing(socket);
  };
  const check = () => {
    const now = performance.now();
    for (const each of running.values()) {
      updatePace(each, now);
      if (now >= each.pacedUntil) close(each.request, 'too_slow');
    }
    closeForMemory(running.values(), now, (request) => close(request, 'memory'));
    closeEndlessBodies(unread, now, (request) => close(request, 'body_after_response'));
    if (running.size + unread.size > 0) return;
    clearInterval(checks);
    checks = undefined;
  };
  const watch = (socket: Socket): Connection => {
    const connection = { unfinished: 0, hasRequest: true };
    connections.set(socket, connection);
    let bytesRead = 0;
    let checksWithBytes = 0;
    const timer = setInterval(() => {
      const isWithoutRequest = connection.unfinished === 0 && !connection.hasRequest && socket.bytesRead > bytesRead;
      checksWithBytes = isWithoutRequest ? checksWithBytes + 1 : 0;
      // At the first one, a request may have begun to arrive.
      if (checksWithBytes === 2) close({ socket }, 'no_request');
      connection.hasRequest = false;
      bytesRead = socket.bytesRead;
    }, idleCheckMs).unref();
    socket.once('close', () => clearInterval(timer));
    return connection;
  };
  return (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket) ?? watch(socket);
    if (socket.destroyed || connection.unfinished >= maxPipelined) return close(request, 'pipelined');
    connection.unfinished += 1;
    connection.hasRequest = true;
    checks ??= setInterval(check, checkMs).unref();
    const now = performance.now();
    const sent = sentBytes(socket);
    const pace = { pacedUntil: now + minuteMs, sentAtPace: sent };
    running.set(response, { request, response, startedAt: now, sentAtStart: sent, ...pace });
    // Node warns beyond ten listeners, and a streamed response already has ten.
    response.setMaxListeners(response.getMaxListeners() + 1).once('close', () => {
      running.delete(response);
      connection.unfinished -= 1;
      if (request.complete || socket.destroyed) return;
      unread.set(request, { since: performance.now(), bytesReadBefore: socket.bytesRead });
    });
    app(request, response);
  };
}

/** Fields that Node's own HTTP server and timeouts use, although they are not documented. */
interface SocketInternals {
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
  readonly parser?: { onIncoming: () => number } | null;
}

/** Bytes that the system has taken for a connection, also of a write that goes on: a response may be one write. */
function sentBytes(socket: Socket & SocketInternals): number {
  const { _handle: handle } = socket;
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength;
}

/**
 * Node parses all that it has read, up to 64 KiB, also for a destroyed connection: 1,700 requests, each with its objects.
 * 2 is llhttp's code for no further message.
 */
function stopParsing({ parser }: Socket & SocketInternals): void {
  if (parser) parser.onIncoming = () => 2;
}

function updatePace(each: Running, now: number): void {
  const sent = sentBytes(each.request.socket);
  const earnedMs = ((sent - each.sentAtPace) / minBytesPerMinute) * minuteMs;
  each.sentAtPace = sent;
  each.pacedUntil = Math.min(each.pacedUntil + earnedMs, now + maxPauseMs);
  if (each.response.writableLength === 0) each.pacedUntil = Math.max(each.pacedUntil, now + minuteMs);
}

/** Closes the connections of clients that send too much, or for too long, after their responses. Forgets bodies that have ended. */
function closeEndlessBodies(
  unread: Map<IncomingMessage, UnreadBody>,
  now: number,
  close: (request: IncomingMessage) => void,
): void {
  for (const [request, { since, bytesReadBefore }] of unread) {
    const { socket } = request;
    const hasEnded = request.complete || socket.destroyed;
    const isEndless = now - since > restOfBody.maxMs || socket.bytesRead - bytesReadBefore > restOfBody.maxBytes;
    if (hasEnded) unread.delete(request);
    else if (isEndless) close(request);
  }
}

/** Closes the slowest readers of the network that holds the most, until all responses hold little enough. */
function closeForMemory(running: Iterable<Running>, now: number, close: (request: IncomingMessage) => void): void {
  const waiting = [...running].filter(({ response }) => response.writableLength > 0);
  let total = sum(waiting);
  if (total <= maxPendingBytes) return;
  const speed = ({ request, sentAtStart, startedAt }: Running) =>
    (sentBytes(request.socket) - sentAtStart) / Math.max(now - startedAt, 1000);
  const byNetwork = [...Map.groupBy(waiting, ({ request }) => networkOf(addressOf(request))).values()].map((all) => ({
    bytes: sum(all),
    fastestFirst: all.sort((a, b) => speed(b) - speed(a)),
  }));
  while (total > maxPendingBytes) {
    const heaviest = byNetwork.reduce((most, each) => (each.bytes > most.bytes ? each : most));
    const slowest = heaviest.fastestFirst.pop();
    if (!slowest) return;
    const bytes = slowest.response.writableLength;
    heaviest.bytes -= bytes;
    total -= bytes;
    close(slowest.request);
  }
}

function addressOf({ ip, socket }: Client): string {
  return ip ?? socket.remoteAddress ?? '';
}

function sum(running: readonly Running[]): number {
  return running.reduce((bytes, { response }) => bytes + response.writableLength, 0);
}
