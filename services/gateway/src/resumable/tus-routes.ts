import { StateConflict } from '@echodrop/archive/resumable-uploads';
import { isTemporary } from '@echodrop/contracts/refusal-statuses-and-messages';
import { wasCutOff } from '@echodrop/service/http-server';
import { type Request, type Response, Router } from 'express';
import type { GatewayEvents } from '../events.ts';
import { asRefusal, ClientGone, Refusal } from '../response/refusal-error.ts';
import { methodNotAllowed, sendBounded, sendRefusal } from '../response/send-response.ts';
import { createUploadContext, type UploadContext } from '../upload-context.ts';
import { UploadRefusedPermanently } from './open-upload.ts';
import * as handlers from './tus-handlers.ts';
import { tusHeadersOf, tusVersion } from './tus-headers.ts';

export interface TusDeps extends handlers.HandlerDeps {
  readonly events: Pick<GatewayEvents, 'uploadEnded' | 'uploadStarted'>;
  /** The address at which clients reach this service, with its base path and without a final slash; undefined if no setting names it. */
  readonly publicUpload?: string | undefined;
}

const byMethod = {
  POST: handlers.createUpload,
  HEAD: handlers.findOffset,
  PATCH: handlers.addBytes,
  DELETE: handlers.terminateUpload,
  GET: handlers.findRecord,
} as const;
type Method = keyof typeof byMethod | 'OPTIONS';

/** Below `base`: resumable uploads at `/files/` (tus 1.0.0, docs/integrate/resumable.md). */
export function tusRoutes(base: string, deps: TusDeps): Router {
  const path = `${base}/files`;
  const address = deps.publicUpload ? `${deps.publicUpload}/files` : path;
  const handle = (methods: readonly Method[]) => async (request: Request, response: Response) => {
    const name = request.get('X-HTTP-Method-Override') ?? request.method;
    const method = methods.find((each) => each === name);
    if (method) await handleRequest(method, request, response, address, deps);
    else methodNotAllowed(methods.join(', '), 'json')(request, response);
  };
  const router = Router({ caseSensitive: true, strict: true });
  router.all([`${path}/`, path], handle(['POST', 'OPTIONS']));
  router.all(`${path}/:id`, handle(['HEAD', 'PATCH', 'DELETE', 'OPTIONS', 'GET']));
  return router;
}

async function handleRequest(
  method: Method,
  request: Request,
  response: Response,
  address: string,
  deps: TusDeps,
): Promise<void> {
  const context = createUploadContext(request, response, 'tus', 'json');
  const end = (how: Parameters<typeof deps.events.uploadEnded>[1], hasEnded = false) =>
    deps.events.uploadEnded(context, how, { method, hasEnded });
  // "The Tus-Resumable header MUST be included in every request and response except for OPTIONS requests." Of HEAD: "The Server MUST prevent the
  // client and/or proxies from caching the response by adding the Cache-Control: no-store header to the response."
  response.set({ 'Tus-Resumable': tusVersion, 'Cache-Control': 'no-store' });
  deps.events.uploadStarted();
  try {
    const { status, headers, body = '', published } = await respond(method, context, address, deps);
    sendBounded(request, response, status, headers, body);
    end(published ?? 'ok');
  } catch (error) {
    if (error instanceof ClientGone) return end(wasCutOff(response) ? asRefusal(error) : 'client_gone');
    const hasEnded = error instanceof UploadRefusedPermanently;
    const refusal = hasEnded ? error.refusal : refusalOf(error);
    if (refusal.reason === 'tus_version') response.set('Tus-Version', tusVersion);
    // HEAD publishes an upload whose last request died. After any refusal of HEAD but 423, tus clients start over.
    const isConcealed = method === 'HEAD' && isTemporary(refusal.reason);
    sendRefusal(request, response, 'json', isConcealed ? new Refusal('upload_locked') : refusal);
    end(refusal, hasEnded);
  }
}

/** @throws Refusal, UploadRefusedPermanently, ClientGone, StateConflict, or the failure of a dependency */
function respond(method: Method, context: UploadContext, address: string, deps: TusDeps) {
  const { headers, params } = context.request;
  // "The Client SHOULD NOT include the Tus-Resumable header in the request and the Server MUST ignore the header."
  if (method === 'OPTIONS') return handlers.describeServer(deps);
  // "If the version specified by the Client is not supported by the Server, it MUST respond with the 412 Precondition Failed status and MUST
  // include the Tus-Version header into the response. In addition, the Server MUST NOT process the request." GET is not of the protocol.
  if (method !== 'GET' && headers['tus-resumable'] !== tusVersion) throw new Refusal('tus_version');
  return byMethod[method]({ context, headers: tusHeadersOf(headers), id: `${params['id'] ?? ''}`, address }, deps);
}

function refusalOf(error: unknown): Refusal {
  return error instanceof StateConflict ? new Refusal('upload_locked', { cause: error }) : asRefusal(error);
}
