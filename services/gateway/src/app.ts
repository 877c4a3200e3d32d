import { randomUUID } from 'node:crypto';
import { publicRecord } from '@echodrop/record';
import { wasCutOff } from '@echodrop/service/http-server';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { answerRecord, answerRefusal, type Format } from './answer/answer.ts';
import { askedFormat } from './answer/asked-format.ts';
import { fromPages } from './answer/from-pages.ts';
import { methodNotAllowed } from './answer/method-not-allowed.ts';
import { asRefusal, ClientGone, type Reason, Refusal } from './answer/refusals.ts';
import { untilGone } from './answer/until-gone.ts';
import type { GatewayEvents, UploadEnd } from './events.ts';
import { openApiRoute } from './openapi/openapi-route.ts';
import type { OwnUploadEvents } from './own-uploads/own-upload-events.ts';
import { ownUploadsRoutes } from './own-uploads/own-uploads-routes.ts';
import { MediaFailure } from './publish/publish.ts';
import { type Upload, type UploadParts, uploadV1, uploadV2 } from './upload.ts';

interface Gateway {
  readonly parts: UploadParts;
  readonly ownParts: Parameters<typeof ownUploadsRoutes>[1]['parts'];
  readonly events: GatewayEvents;
  readonly ownEvents: OwnUploadEvents;
  readonly basePaths: readonly string[];
  /** Where the pages of media are, without a slash at its end. */
  readonly publicSite: string;
  /** The origins of pages whose scripts may read our answers. */
  readonly corsOrigins: readonly string[];
  /** Whose X-Forwarded-For is believed: addresses and networks. */
  readonly trustedProxies: readonly string[];
}

const uploads = { 1: uploadV1, 2: uploadV2 } as const;

/** The gateway's routes: both uploads in both formats below each base path, what is the user's own, and the API's description; everything else is 404 or 405. */
export function gatewayApp(gateway: Gateway): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  app.set('trust proxy', gateway.trustedProxies);
  app.use((_request, response, next) => {
    response.setHeader('X-Request-Id', randomUUID());
    next();
  });
  if (gateway.corsOrigins.length > 0) app.use(fromPages(gateway.corsOrigins));
  app.use((request, response, next) => {
    const fault = faultOf(request);
    if (fault) answerRefusal(request, response, askedFormat(request.url), new Refusal(fault));
    else next();
  });
  for (const base of gateway.basePaths) {
    for (const version of [1, 2] as const) {
      for (const format of ['xml', 'json'] as const) {
        app
          .route(`${base.replace(/\/+$/, '')}/${version}/upload.${format}`)
          .post(takeUpload(gateway, version, format))
          .all(methodNotAllowed('POST', format));
      }
    }
    app.use(
      ownUploadsRoutes(base, { parts: gateway.ownParts, events: gateway.ownEvents, publicSite: gateway.publicSite }),
    );
    app.use(openApiRoute(base, gateway.parts.forms.maxMediaBytes));
  }
  app.use((request, response) => answerRefusal(request, response, 'json', new Refusal('not_found')));
  app.use(lastResort);
  return app;
}

// RFC 9112 sections 3.2 and 6.1, RFC 9110 section 10.1.1.
function faultOf({ headers, rawHeaders, httpVersion }: Request): Reason | undefined {
  const hosts = rawHeaders.filter((name, n) => n % 2 === 0 && /^host$/i.test(name)).length;
  if (hosts > 1 || (httpVersion === '1.1' && hosts === 0)) return 'request_malformed';
  if (!/^[^\s/?#@]*$/.test(headers.host ?? '')) return 'request_malformed';
  if (!/^(chunked)?$/i.test(headers['transfer-encoding'] ?? '')) return 'request_malformed';
  if (httpVersion !== '1.0' && headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    return 'expectation_failed';
  return undefined;
}

function takeUpload({ parts, events, publicSite }: Gateway, version: 1 | 2, format: Format): RequestHandler {
  return async (request, response) => {
    const started = performance.now();
    let received: number | undefined;
    request.once('end', () => {
      received = performance.now();
    });
    const ended = (end: Omit<UploadEnd, 'requestId' | 'version' | 'format' | 'seconds' | 'answerSeconds'>) => {
      const requestId = String(response.getHeader('X-Request-Id'));
      const now = performance.now();
      const answerSeconds = received === undefined ? undefined : (now - received) / 1000;
      events.uploadEnded({ requestId, version, format, seconds: (now - started) / 1000, answerSeconds, ...end });
    };
    events.uploadBegan();
    try {
      const { record, repeated } = await uploads[version](uploadOf(request, response), parts);
      answerRecord(response, format, publicRecord(record, publicSite));
      if (repeated) ended({ outcome: 'repeated', mediaId: record.id, mediaKey: record.mediaKey });
      else ended({ outcome: 'published', mediaId: record.id, mediaKey: record.mediaKey, bytes: record.size });
    } catch (error) {
      if (error instanceof ClientGone) return ended({ outcome: wasCutOff(response) ? 'unavailable' : 'client_gone' });
      const refusal = asRefusal(error);
      answerRefusal(request, response, format, refusal);
      ended({ outcome: refusal.reason, ...mediaOf(error), error: refusal.cause });
    }
  };
}

// Of an error, or of what lies behind it.
function mediaOf(error: unknown): Pick<UploadEnd, 'mediaKey' | 'why'> {
  const failure = error instanceof Error && !(error instanceof MediaFailure) ? error.cause : error;
  return failure instanceof MediaFailure ? { mediaKey: failure.mediaKey, why: failure.why } : {};
}

function uploadOf(request: Request, response: Response): Upload {
  // RFC 9110 section 10.1.1: HTTP/1.0 knows no expectations.
  const waits = request.headers.expect !== undefined && request.httpVersion !== '1.0';
  return {
    request,
    clientAddress: request.ip ?? '',
    gone: untilGone(response),
    sendBody: () => waits && response.writeContinue(),
  };
}

// What Express itself refuses (a path that is no valid percent-encoding) names nothing that we have.
const lastResort: ErrorRequestHandler = (_error, request, response, _next) => {
  answerRefusal(request, response, 'json', new Refusal('not_found'));
};
