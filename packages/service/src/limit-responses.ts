import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics } from './metrics/metrics.ts';

/** Bytes that all responses of a process may hold for their readers. A reader that pauses holds up to 64 KiB. */
export const maxPendingBytes = 128 * 1024 * 1024;
/** The slowest accepted reader, by the bytes of a minute. Less than the 64 KiB that Node writes at once, of which it learns only the end. */
export const minBytesPerMinute = 60 * 1024;
/** Requests of one connection without a complete response. Browsers and proxies send one. */
const maxPipelined = 4;
/** What a client may still send of its body after the response. */
export const restOfBody = { maxMs: 30_000, maxBytes: 32 * 1024 * 1024 } as const;

const checkMs = 250;
const windowMs = 60_000;
const reasons = ['too_slow', 'memory', 'pipelined', 'body_after_response'] as const;
type Reason = (typeof reasons)[number];

interface Running {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly startedAt: number;
  readonly sentAtStart: number;
  /** The current minute in which bytes always waited for the reader. */
  windowStart: number;
  sentAtWindowStart: number;
}

/** What follows of a request's body after its response. */
interface UnreadBody {
  readonly socket: Socket;
  readonly since: number;
  readonly bytesReadBefore: number;
}

/**
 * Limits what the readers of responses make a process hold. Closes the connection of a reader that takes less than 60 KiB a minute; of the
 * slowest readers of the client address that holds the most, while all responses hold more than 128 MiB; of a client that pipelines more than
 * four requests; and of one that sends more than the rest of its body, 32 MiB or 30 s, after the response (docs/decisions/050).
 */
export function limitResponses(app: RequestListener, metrics: Metrics): RequestListener {
  const running = new Map<ServerResponse, Running>();
  const unfinished = new WeakMap<Socket, number>();
  /** Requests with a response, whose body has not ended. */
  const unread = new Map<IncomingMessage, UnreadBody>();
  const closed = metrics.counter(
    'echodrop_connections_closed_total',
    'Connections closed to bound what readers make the process hold, by reason.',
    ['reason'],
  );
  for (const reason of reasons) closed.inc({ reason }, 0);
  let checks: NodeJS.Timeout | undefined;

  const close = (socket: Socket, reason: Reason) => {
    if (!socket.destroyed) closed.inc({ reason });
    socket.destroy();
  };
  const check = () => {
    const now = performance.now();
    for (const each of running.values()) {
      const { isTooSlow } = updatePace(each, now);
      if (isTooSlow) close(each.socket, 'too_slow');
    }
    closeForMemory(running.values(), now, (socket) => close(socket, 'memory'));
    closeEndlessBodies(unread, now, (socket) => close(socket, 'body_after_response'));
    if (running.size + unread.size > 0) return;
    clearInterval(checks);
    checks = undefined;
  };
  return (request, response) => {
    const { socket } = request;
    const earlier = unfinished.get(socket) ?? 0;
    if (socket.destroyed || earlier >= maxPipelined) return close(socket, 'pipelined');
    unfinished.set(socket, earlier + 1);
    checks ??= setInterval(check, checkMs).unref();
    const [startedAt, sentAtStart] = [performance.now(), sentBytes(socket)];
    running.set(response, {
      ...{ request, response, socket, startedAt, sentAtStart },
      ...{ windowStart: startedAt, sentAtWindowStart: sentAtStart },
    });
    // Node warns beyond ten listeners, and a streamed response already has ten.
    response.setMaxListeners(response.getMaxListeners() + 1).once('close', () => {
      running.delete(response);
      unfinished.set(socket, (unfinished.get(socket) ?? 1) - 1);
      if (request.complete || socket.destroyed) return;
      unread.set(request, { socket, since: performance.now(), bytesReadBefore: socket.bytesRead });
    });
    app(request, response);
  };
}

/** Bytes that the system has taken for a connection. */
function sentBytes(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}

/** Begins the next minute of `each` if its minute has ended or no bytes wait. Too slow: bytes waited for the whole minute, and the reader took too few. */
function updatePace(each: Running, now: number): { readonly isTooSlow: boolean } {
  const { response, socket } = each;
  const isWaiting = response.writableLength > 0;
  const hasWindowEnded = now - each.windowStart >= windowMs;
  if (isWaiting && !hasWindowEnded) return { isTooSlow: false };
  const isTooSlow = isWaiting && sentBytes(socket) - each.sentAtWindowStart < minBytesPerMinute;
  Object.assign(each, { windowStart: now, sentAtWindowStart: sentBytes(socket) });
  return { isTooSlow };
}

/** Closes the connections of clients that send too much, or for too long, after their responses. Forgets bodies that have ended. */
function closeEndlessBodies(
  unread: Map<IncomingMessage, UnreadBody>,
  now: number,
  close: (socket: Socket) => void,
): void {
  for (const [request, { socket, since, bytesReadBefore }] of unread) {
    const hasEnded = request.complete || socket.destroyed;
    const isEndless = now - since > restOfBody.maxMs || socket.bytesRead - bytesReadBefore > restOfBody.maxBytes;
    if (hasEnded) unread.delete(request);
    else if (isEndless) close(socket);
  }
}

/** Closes the slowest readers of the address that holds the most, until all responses hold little enough. */
function closeForMemory(running: Iterable<Running>, now: number, close: (socket: Socket) => void): void {
  const waiting = [...running].filter(({ response }) => response.writableLength > 0);
  let total = sum(waiting);
  if (total <= maxPendingBytes) return;
  const speed = ({ socket, sentAtStart, startedAt }: Running) =>
    (sentBytes(socket) - sentAtStart) / Math.max(now - startedAt, 1000);
  const byAddress = [...Map.groupBy(waiting, ({ request }) => addressOf(request)).values()].map((all) => ({
    bytes: sum(all),
    fastestFirst: all.sort((a, b) => speed(b) - speed(a)),
  }));
  while (total > maxPendingBytes) {
    const heaviest = byAddress.reduce((most, each) => (each.bytes > most.bytes ? each : most));
    const slowest = heaviest.fastestFirst.pop();
    if (!slowest) return;
    const bytes = slowest.response.writableLength;
    heaviest.bytes -= bytes;
    total -= bytes;
    close(slowest.socket);
  }
}

/** The address that Express found, through trusted proxies only. */
function addressOf({ ip, socket }: IncomingMessage & { readonly ip?: string | undefined }): string {
  return ip ?? socket.remoteAddress ?? '';
}

function sum(running: readonly Running[]): number {
  return running.reduce((bytes, { response }) => bytes + response.writableLength, 0);
}
