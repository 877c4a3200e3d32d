import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Delivery, maxSlowSeconds } from './behaviours.ts';

const dripMs = 500;

/** Sends a response with its flaws until the reader leaves. `date` is the time by the sandbox's clock. */
export async function deliver(response: ServerResponse, delivery: Delivery, date: Date): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    await send(response, delivery, date, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

async function send(response: ServerResponse, delivery: Delivery, date: Date, gone: AbortSignal): Promise<void> {
  const { status, headers, afterSeconds, ends } = delivery;
  if (afterSeconds > 0) await sleep(afterSeconds * 1000, undefined, { signal: gone });
  if (ends === 'before-it-begins') return void response.destroy();
  const body = Buffer.from(delivery.body);
  const length = ends === 'never' ? {} : { 'Content-Length': body.length };
  response.writeHead(status, { ...headers, ...length, Date: date.toUTCString() });
  if (!ends) return void response.end(body);
  const { promise: isSent, resolve } = Promise.withResolvers<void>();
  response.write(body.subarray(0, body.length / 2), () => resolve());
  await (ends === 'never' ? drip(response, gone) : isSent);
  response.destroy();
}

/** Keeps the connection alive with white space, so that only a limit on the whole response ends it. */
async function drip(response: ServerResponse, gone: AbortSignal): Promise<void> {
  for (let ms = 0; ms < maxSlowSeconds * 1000; ms += dripMs) {
    await sleep(dripMs, undefined, { signal: gone });
    response.write(' ');
  }
}
