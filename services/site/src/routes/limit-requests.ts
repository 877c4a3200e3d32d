import { FairSlotQueue } from '@echodrop/service/fair-slot-queue';
import { networkOf } from '@echodrop/service/ip-address';
import type { RequestHandler, Response } from 'express';
import type { SiteFrame } from '../pages/page.ts';
import { sendProblem } from '../pages/problem-page.ts';
import type { RequestSources, Site } from '../site.ts';
import { closeSignal } from './log-requests.ts';

const slotsOfNetwork = 32;
const waitMs = 5000;

/**
 * Handles at most 256 requests at once, of one client network 32, until each has its response: a record may have 64 KiB, and thousands of readers may
 * request one at once. If no slot is free, networks take turns. A request that waits for five seconds gets 503.
 */
export function limitRequests(frame: SiteFrame): RequestHandler {
  const slots = new FairSlotQueue({ slots: 256, maxWaiting: 4096, maxWaitingOfOne: 1024 });
  return async (request, response, next) => {
    const held = new DisposableStack();
    const hasSlot = await slots.acquire(networkOf(request.ip ?? ''), slotsOfNetwork, waitMs, held);
    if (!hasSlot) return sendProblem(response, 'unavailable', frame);
    response.locals['requestSlot'] = held;
    if (response.closed) return held.dispose();
    // The end of a response that its reader may not have read yet, and the end of a connection.
    for (const event of ['prefinish', 'close']) response.once(event, () => held.dispose());
    next();
  };
}

/** Releases the slot of a request. Call it before a response is streamed, which may take long. */
export function releaseRequestSlot(response: Response): void {
  response.locals['requestSlot']?.dispose();
}

/** What a request uses of the site. From when it waits for a rendition, the request has no slot. */
export function sourcesFor(site: Site, response: Response): RequestSources {
  return { ...site, signal: closeSignal(response), onWait: () => releaseRequestSlot(response) };
}
