import type { Log } from '@echodrop/service/log';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { type Fault, SignatureCheck } from './check-signature.ts';
import { credentialsPage } from './credentials-page.ts';

const verifyCredentials = '/1/account/verify_credentials.json';

// Codes and sentences as old clients know them from Twitter.
const refusals: Record<Fault, { code: number; message: string }> = {
  missing: { code: 215, message: 'Bad Authentication data' },
  malformed: { code: 215, message: 'Bad Authentication data' },
  unknown: { code: 89, message: 'Invalid or expired token' },
  signature: { code: 32, message: 'Could not authenticate you' },
  timestamp: { code: 135, message: 'Timestamp out of bounds' },
  nonce: { code: 32, message: 'Could not authenticate you' },
};

/** The provider's routes: who signed this request, and a page that says how to sign one. */
export function sandboxApp(log: Log): Express {
  const signatures = new SignatureCheck();
  const app = express()
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .enable('strict routing');

  app.use((_request, response, next) => {
    response.set('Cache-Control', 'no-store');
    next();
  });

  app.get('/', (request, response) => {
    response.type('html').send(credentialsPage(signedAddress(request)?.origin ?? ''));
  });

  app.get(verifyCredentials, (request, response) => {
    const url = signedAddress(request);
    const { method, headers } = request;
    const found = url ? signatures.check({ method, url, authorization: headers.authorization }) : 'malformed';
    if (typeof found === 'string') {
      log.info({ reason: found }, 'credentials refused');
      refuse(response.set('WWW-Authenticate', 'OAuth realm="sandbox"'), 401, refusals[found]);
    } else {
      const { id, screenName } = found;
      response.json({ id, id_str: String(id), name: 'Sandbox', screen_name: screenName });
    }
  });

  app.all(verifyCredentials, (_request, response) => {
    refuse(response.set('Allow', 'GET, HEAD'), 405, { code: 86, message: 'This method requires a GET' });
  });

  app.use((_request, response) => {
    refuse(response, 404, { code: 34, message: 'Sorry, that page does not exist' });
  });

  const failed: ErrorRequestHandler = (error, _request, response, _next) => {
    log.error({ err: error }, 'a request failed');
    refuse(response, 500, { code: 131, message: 'Internal error' });
  };
  return app.use(failed);
}

/** The address as the client knows it and signs it: this server's own name does not count, only the Host that was asked for. */
function signedAddress(request: Request): URL | undefined {
  return URL.parse(`http://${request.headers.host ?? ''}${request.originalUrl}`) ?? undefined;
}

function refuse(response: Response, status: number, error: { code: number; message: string }): void {
  response.status(status).json({ errors: [error] });
}
