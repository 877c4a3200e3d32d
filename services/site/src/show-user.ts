import { newest } from '@echodrop/archive/listing';
import { isOwnerHash } from '@echodrop/archive/owner';
import type { RequestHandler } from 'express';
import { ofKnownType } from './find-media.ts';
import { untilGone } from './follow-request.ts';
import { nameOf } from './media-title.ts';
import { sendPage } from './page.ts';
import { sendProblem } from './problem-page.ts';
import type { Site } from './site.ts';
import { userPage } from './user-page.ts';

const pageLength = 24;

/** `GET /by/<hash>`: a user's uploads, newest first; `after` is the cursor of an older page. */
export function showUser(site: Site): RequestHandler<{ owner: string }> {
  return async (request, response) => {
    const { owner } = request.params;
    const { after } = request.query;
    const isAsked = isOwnerHash(owner) && (after === undefined || typeof after === 'string');
    const unreadable = (id: string) => site.events.recordUnreadable(id);
    const asked = { owner, after, limit: pageLength, signal: untilGone(response), unreadable };
    const found = isAsked && (await newest(site.store, { ...asked, after }).catch(noCursor));
    if (!found || (found.records.length === 0 && found.next === undefined)) {
      return sendProblem(response, 'not_found', site);
    }

    const media = found.records.flatMap((record) => {
      const known = ofKnownType(record);
      if (!known) unreadable(record.id);
      return known ?? [];
    });
    const userName = media[0] && nameOf(media[0]);
    const page = userPage({ owner, userName, media, isFirst: after === undefined, next: found.next }, site);
    sendPage(response, 200, page, site);
  };
}

function noCursor(error: unknown): undefined {
  if (error instanceof RangeError) return undefined;
  throw error;
}
