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
  if (afterSeconds) await sleep(afterSeconds * 1000, undefined, { signal: gone });
  if (ends === 'before-it-begins') {
    response.destroy();
    return;
  }
  const body = Buffer.from(delivery.body);
  response.writeHead(status, {
    ...headers,
    ...(ends === 'never' ? {} : { 'Content-Length': body.length }),
    Date: date.toUTCString(),
  });
  if (ends === undefined) {
    response.end(body);
    return;
  }
  const sent = Promise.withResolvers<void>();
  response.write(body.subarray(0, body.length / 2), () => sent.resolve());
  if (ends === 'never') await drip(response, gone);
  else await sent.promise;
  response.destroy();
}

/** Keeps the connection alive with white space, so that only a limit on the whole response ends it. */
async function drip(response: ServerResponse, gone: AbortSignal): Promise<void> {
  for (let ms = 0; ms < maxSlowSeconds * 1000; ms += dripMs) {
    await sleep(dripMs, undefined, { signal: gone });
    response.write(' ');
  }
}
