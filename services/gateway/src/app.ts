import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { publicRecord } from '@echodrop/record';
import { spellForwardedFor } from '@echodrop/service/forwarded-for';
import { wasCutOff } from '@echodrop/service/http-server';
import { routePaths } from '@echodrop/service/request-target';
import { securityTxt } from '@echodrop/service/security-txt';
import cors from 'cors';
import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import { acceptUpload, type UploadDeps } from './accept-upload.ts';
import type { GatewayEvents } from './events.ts';
import { serveOpenApi } from './openapi/openapi.ts';
import { ownUploadRoutes } from './own-uploads/own-upload-routes.ts';
import { type Format, requestedFormat } from './response/format.ts';
import { asRefusal, ClientGone, Refusal } from './response/refusal-error.ts';
import { methodNotAllowed, sendRecord, sendRefusal } from './response/send-response.ts';
import { type TusDeps, tusRoutes } from './resumable/tus-routes.ts';
import { createUploadContext } from './upload-context.ts';

interface Gateway {
  readonly uploads: UploadDeps;
  readonly ownUploads: Parameters<typeof ownUploadRoutes>[1];
  readonly resumable: TusDeps;
  readonly events: Pick<GatewayEvents, 'requestFailed' | 'uploadStarted' | 'uploadEnded'>;
  readonly basePaths: readonly string[];
  /** The site's address, without a final slash. */
  readonly publicSite: string;
  /** Origins whose scripts may read responses. */
  readonly corsOrigins: readonly string[];
  /** Addresses and networks whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Address for reports of vulnerabilities. */
  readonly securityContact: string | undefined;
}

/** The gateway's routes below each base path: uploads, own uploads, and the OpenAPI document; and what visitors request. Everything else is 404 or 405. */
export function gatewayApp(gateway: Gateway): RequestListener {
  const { basePaths, publicSite, corsOrigins, trustedProxies, securityContact } = gateway;
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  app.set('trust proxy', trustedProxies);
  app.use((request, response, next) => {
    response.setHeader('X-Request-Id', randomUUID());
    spellForwardedFor(request.headers);
    // Some clients join an address that ends with a slash and a path that begins with one.
    request.url = request.url.replace(/^\/[^?]*/, (path) => path.replace(/\/{2,}/g, '/'));
    next();
  });
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins));
  app.use((request, response, next) => {
    const fault = faultOf(request);
    if (fault) sendRefusal(request, response, requestedFormat(request.url), fault);
    else next();
  });
  const get = (path: string | string[], handler: RequestHandler) =>
    app.route(path).get(handler).all(methodNotAllowed('GET, HEAD', 'json'));
  const getText = (path: string, content: () => string) =>
    get(path, (_request, response) => {
      response.set('Cache-Control', 'public, max-age=3600').type('text/plain').send(content());
    });
  const roots = basePaths.map((base) => base.replace(/\/+$/, ''));
  // These paths are what browsers and crawlers request by themselves. The roots of the host and of each base path lead to the site's page for developers.
  const home = ['/', ...roots.filter(Boolean).flatMap((root) => [root, `${root}/`])];
  get(home, (_request, response) => response.redirect(302, `${publicSite}/documentation`));
  get('/favicon.ico', (_request, response) => response.redirect(302, `${publicSite}/favicon.svg`));
  getText('/robots.txt', () => 'User-agent: *\nDisallow: /\n');
  if (securityContact !== undefined)
    getText('/.well-known/security.txt', () => securityTxt(securityContact, new Date()));
  for (const root of roots) {
    for (const version of [1, 2] as const) {
      for (const format of ['xml', 'json'] as const) {
        app
          .route(`${root}/${version}/upload.${format}`)
          .post(handleUpload(gateway, version, format))
          .all(methodNotAllowed('POST', format));
      }
    }
    app.use(ownUploadRoutes(root, gateway.ownUploads, publicSite));
    app.use(tusRoutes(root, gateway.resumable));
    get(`${root}/openapi.json`, serveOpenApi(root, gateway.uploads.forms.maxMediaBytes));
  }
  app.use((request, response) => sendRefusal(request, response, 'json', new Refusal('not_found', { message: 'path' })));
  app.use(handleErrors(gateway.events));
  return routePaths(app, (request, response) =>
    sendRefusal(request, response, 'json', new Refusal('request_malformed', { message: 'syntax' })),
  );
}

// Chromium caches a preflight for no longer time.
const preflightSeconds = 7200;

/** Lets scripts of these origins send requests, with any headers, and read responses (CORS of the Fetch standard). */
function allowOrigins(origins: readonly string[]): RequestHandler {
  const options = {
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS'],
    exposedHeaders: [
      ...['X-Request-Id', 'Retry-After', 'Location', 'Record-Location', 'Preference-Applied'],
      ...['Tus-Checksum-Algorithm', 'Tus-Extension', 'Tus-Max-Size', 'Tus-Resumable', 'Tus-Version'],
      ...['Upload-Defer-Length', 'Upload-Expires', 'Upload-Length', 'Upload-Metadata', 'Upload-Offset'],
    ],
    maxAge: preflightSeconds,
  };
  const preflight = cors(options);
  // The middleware takes each OPTIONS for a preflight, also that of a script that asks what tus offers.
  const request = cors({ ...options, preflightContinue: true });
  return (incoming, response, next) => {
    const { origin = '', 'access-control-request-method': requested } = incoming.headers;
    if (origins.includes(origin)) return (requested === undefined ? request : preflight)(incoming, response, next);
    response.vary('Origin');
    next();
  };
}

// RFC 9112 sections 3.2 and 6.1, RFC 9110 section 10.1.1. A list of encodings is refused: a proxy may read such a body differently.
function faultOf({ headers, rawHeaders, httpVersion }: Request): Refusal | undefined {
  const hosts = rawHeaders.filter((name, n) => n % 2 === 0 && /^host$/i.test(name)).length;
  const hasHost = hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
  if (!hasHost || !/^[^\s/?#@]*$/.test(headers.host ?? ''))
    return new Refusal('request_malformed', { message: 'host' });
  if (!/^(chunked)?$/i.test(headers['transfer-encoding'] ?? ''))
    return new Refusal('request_malformed', { message: 'coding' });
  const expectations = headers.expect?.split(',').map((each) => each.trim().toLowerCase()) ?? [];
  if (httpVersion !== '1.0' && expectations.some((each) => each !== '' && each !== '100-continue'))
    return new Refusal('expectation_failed');
  return undefined;
}

function handleUpload({ uploads, events, publicSite }: Gateway, version: 1 | 2, format: Format): RequestHandler {
  return async (request, response) => {
    const context = createUploadContext(request, response, version, format);
    events.uploadStarted();
    try {
      const published = await acceptUpload(context, uploads);
      sendRecord(response, format, publicRecord(published.record, publicSite));
      events.uploadEnded(context, published);
    } catch (error) {
      if (error instanceof ClientGone)
        return events.uploadEnded(context, wasCutOff(response) ? asRefusal(error) : 'client_gone');
      const refusal = asRefusal(error);
      sendRefusal(request, response, format, refusal);
      events.uploadEnded(context, refusal);
    }
  };
}

/** Responds to errors that no route handles. */
function handleErrors(events: Pick<GatewayEvents, 'requestFailed'>): ErrorRequestHandler {
  return (error, request, response, _next) => {
    // Express could not decode the path.
    const isPath = error instanceof URIError && 'status' in error && error.status === 400;
    if (!isPath) events.requestFailed(String(response.getHeader('X-Request-Id')), error);
    const refusal = isPath ? new Refusal('not_found', { message: 'path' }) : new Refusal('internal_error');
    sendRefusal(request, response, requestedFormat(request.url), refusal);
  };
}
