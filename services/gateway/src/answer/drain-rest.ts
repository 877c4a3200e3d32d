import type { IncomingMessage } from 'node:http';

const maxBytes = 32 * 1024 * 1024;
const maxMs = 30_000;

/**
 * Reads and drops what the client still sends, up to 32 MiB or 30 s, then calls `done` once. Otherwise a reset reaches the client before
 * it has read the response (docs/dependencies.md, "HTTP on Node").
 */
export function drainRest(request: IncomingMessage, done: () => void): void {
  let isOver = false;
  const finish = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    done();
  };
  const timer = setTimeout(finish, maxMs);
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > maxBytes) finish();
  });
  for (const end of ['end', 'close', 'error']) request.once(end, finish);
  // A reader that stopped early may have paused both.
  request.socket.resume();
  if (request.destroyed) finish();
  else request.resume();
}
