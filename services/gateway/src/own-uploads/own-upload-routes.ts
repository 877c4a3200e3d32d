import { cursorShape } from '@echodrop/archive/listing-keys';
import { publicRecord } from '@echodrop/record';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { z } from 'zod';
import type { Slots } from '../admit/slots.ts';
import type { Format } from '../response/format.ts';
import { asRefusal, ClientGone, Refusal } from '../response/refusal-error.ts';
import { methodNotAllowed, sendRecord, sendRecords, sendRefusal } from '../response/send-response.ts';
import { createRequestContext } from '../upload-context.ts';
import type { OwnUploadEvents } from './own-upload-events.ts';
import { findOwn, listOwn, type OwnRequest, type OwnUploadDeps, removeOwn } from './own-uploads.ts';

/** The query of a list. */
export const pageShape = z.object({
  count: z
    .string()
    .regex(/^[1-9]\d{0,2}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(20)
    .describe('Maximum records per page.'),
  after: cursorShape.optional().describe('`next` of the previous page.'),
});

/**
 * Below `base`: GET `/2/media.xml` and `.json` list the uploads of the caller, GET `/2/media/<id>.xml` and `.json` finds one, DELETE
 * `/2/media/<id>` removes one.
 */
export function ownUploadRoutes(
  base: string,
  deps: OwnUploadDeps & { readonly slots: Pick<Slots, 'acquire'>; readonly events: OwnUploadEvents },
  publicSite: string,
): Router {
  const { events } = deps;
  const router = Router({ caseSensitive: true, strict: true });
  const root = `${base}/2/media`;
  for (const format of ['xml', 'json'] as const) {
    const list: RequestHandler = (request, response) =>
      handle(request, response, format, async (own) => {
        const { records, next } = await listOwn(own, pageOf(request), deps);
        sendRecords(response, format, { records: records.map((each) => publicRecord(each, publicSite)), next });
        events.listed(own.requestId, records.length);
      });
    router.route(`${root}.${format}`).get(list).all(methodNotAllowed('GET, HEAD', format));
    const find: RequestHandler<{ id: string }> = (request, response) =>
      handle(request, response, format, async (own) => {
        const record = await findOwn(own, request.params.id, deps);
        response.set('Cache-Control', 'no-store');
        sendRecord(response, format, publicRecord(record, publicSite));
        events.listed(own.requestId, 1);
      });
    router.route(`${root}/:id.${format}`).get(find).all(methodNotAllowed('GET, HEAD', format));
  }
  const remove: RequestHandler<{ id: string }> = (request, response) =>
    handle(request, response, 'json', async (own) => {
      await removeOwn(own, request.params.id, deps);
      response.status(204).end();
      events.removed(own.requestId, request.params.id);
    });
  router.route(`${root}/:id`).delete(remove).all(methodNotAllowed('DELETE', 'json'));
  return router;

  async function handle(
    request: Request<{ id?: string }>,
    response: Response,
    format: Format,
    respond: (own: OwnRequest) => Promise<void>,
  ): Promise<void> {
    // A body is dropped: Node would hold some of it, at 400 bytes for each chunk.
    request.resume();
    const context = createRequestContext(request, response);
    using holder = new DisposableStack();
    try {
      const slot = holder.use(deps.slots.acquire(context.clientAddress, 'unverified'));
      await respond({ ...context, slot });
      // The slot is held until the client has read the response: unread responses would use up the memory. A refusal is small, and its client may send on
      // for 30 s.
      const held = holder.move();
      if (response.closed) held.dispose();
      else response.once('close', () => held.dispose());
    } catch (error) {
      if (error instanceof ClientGone) return;
      const refusal = asRefusal(error);
      sendRefusal(request, response, format, refusal);
      events.refused(context.requestId, refusal, request.params.id);
    }
  }
}

/** @throws Refusal `query_malformed` */
function pageOf({ query }: Request): { limit: number; after?: string | undefined } {
  const { data, error } = pageShape.safeParse(query);
  if (data) return { limit: data.count, after: data.after };
  throw new Refusal('query_malformed', { message: error.issues[0]?.path[0] === 'after' ? 'after' : 'count' });
}
