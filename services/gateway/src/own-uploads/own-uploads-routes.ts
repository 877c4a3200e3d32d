import { isCursor } from '@echodrop/archive/listing';
import { publicRecord } from '@echodrop/record';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { answerRecords, answerRefusal, type Format } from '../answer/answer.ts';
import { methodNotAllowed } from '../answer/method-not-allowed.ts';
import { asRefusal, ClientGone, Refusal } from '../answer/refusals.ts';
import { untilGone } from '../answer/until-gone.ts';
import type { OwnUploadEvents } from './own-upload-events.ts';
import { listOwn, type OwnParts, type OwnRequest, removeOwn } from './own-uploads.ts';

interface OwnRoutes {
  readonly parts: Omit<OwnParts, 'removing' | 'unreadable'>;
  readonly events: OwnUploadEvents;
  readonly publicSite: string;
}

const usualCount = 20;
const mostCount = 100;

/** Below `base`: GET `/2/media.xml` and `.json` list what the user has uploaded, DELETE `/2/media/<id>` removes it. */
export function ownUploadsRoutes(base: string, { parts, events, publicSite }: OwnRoutes): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const root = `${base.replace(/\/+$/, '')}/2/media`;
  for (const format of ['xml', 'json'] as const) {
    const list: RequestHandler = (request, response) =>
      answered(request, response, format, async (own) => {
        const { records, next } = await listOwn(own, pageAsked(request), partsOf(response));
        answerRecords(response, format, { records: records.map((each) => publicRecord(each, publicSite)), next });
        events.listed(requestIdOf(response), records.length);
      });
    router.route(`${root}.${format}`).get(list).all(methodNotAllowed('GET, HEAD', format));
  }
  const remove: RequestHandler<{ id: string }> = (request, response) =>
    answered(request, response, 'json', async (own) => {
      await removeOwn(own, request.params.id, partsOf(response));
      response.status(204).end();
      events.removed();
    });
  router.route(`${root}/:id`).delete(remove).all(methodNotAllowed('DELETE', 'json'));
  return router;

  function partsOf(response: Response): OwnParts {
    const requestId = requestIdOf(response);
    return {
      ...parts,
      removing: ({ id: mediaId, mediaKey, provider, subject }) =>
        events.removing({ requestId, mediaId, mediaKey, provider, subject }),
      unreadable: (mediaId) => events.recordUnreadable(requestId, mediaId),
    };
  }

  async function answered(
    request: Request<object>,
    response: Response,
    format: Format,
    answer: (own: OwnRequest) => Promise<void>,
  ): Promise<void> {
    // No body is of use here; unread, Node would hold some of it, at 400 bytes for each chunk.
    request.resume();
    try {
      await answer({ request, clientAddress: request.ip ?? '', gone: untilGone(response) });
    } catch (error) {
      if (error instanceof ClientGone) return;
      const refusal = asRefusal(error);
      answerRefusal(request, response, format, refusal);
      events.refused(requestIdOf(response), refusal);
    }
  }
}

function pageAsked({ query }: Request): { after?: string; limit: number } {
  const { after, count = String(usualCount) } = query;
  const limit = typeof count === 'string' && /^[1-9]\d{0,2}$/.test(count) ? Number(count) : 0;
  const isSound = limit >= 1 && limit <= mostCount && (after === undefined || isOneCursor(after));
  if (!isSound) throw new Refusal('query_malformed');
  return { limit, ...(typeof after === 'string' && { after }) };
}

function isOneCursor(after: Request['query'][string]): boolean {
  return typeof after === 'string' && isCursor(after);
}

function requestIdOf(response: Response): string {
  return String(response.getHeader('X-Request-Id'));
}
