import { FairSlots } from '@echodrop/service/fair-slots';
import { networkOf } from '@echodrop/service/ip-address';
import type { RequestHandler, Response } from 'express';
import type { SiteFrame } from '../pages/page.ts';
import { sendProblem } from '../pages/problem-page.ts';
import type { Site } from '../site.ts';

const slotsOfNetwork = 32;
const waitMs = 5000;

/**
 * Handles at most 256 requests at once, of one client network 32, until each has its response: a record may have 64 KiB, and thousands of readers may
 * request one at once. If no slot is free, networks take turns. A request that waits for five seconds gets 503.
 */
export function limitRequests(frame: SiteFrame): RequestHandler {
  const slots = new FairSlots({ slots: 256, maxWaiting: 4096, maxWaitingOfOne: 1024 });
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

/** What a request uses of the site. It has no slot from when it waits for a rendition. */
export function sourcesWithoutSlot(site: Site, response: Response): Site {
  const { renditions } = site;
  const make: Site['renditions']['make'] = (...request) => {
    releaseRequestSlot(response);
    return renditions.make(...request);
  };
  return { ...site, renditions: { make, videoProgress: (...request) => renditions.videoProgress(...request) } };
}
