import type { VerificationClient } from '@echodrop/contracts/verification-client';
import { VerifierUnavailable } from '@echodrop/contracts/verification-client';
import express, { type Request, type RequestHandler, type Response, Router } from 'express';
import { z } from 'zod';
import { credentialsFromHeaders, requireCaller } from '../admit/credentials.ts';
import type { Slots } from '../admit/slots.ts';
import { asRefusal, ClientGone, Refusal } from '../response/refusal-error.ts';
import { methodNotAllowed, sendRefusal } from '../response/send-response.ts';
import { createRequestContext } from '../upload-context.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import type { SessionEvents } from './session-events.ts';

// Browsers keep a cookie for at most 400 days (RFC 6265bis, section 5.5).
const maxSessionSeconds = 400 * 24 * 3600;

const lifetimeShape = z.object({
  seconds: z.coerce.number().int().min(1).max(maxSessionSeconds).catch(maxSessionSeconds),
});

// A body that is too long or no JSON is none: signing out succeeds all the same.
const parseJson = express.json({ limit: 8192 });
const readApplication: RequestHandler = (request, response, next) => parseJson(request, response, () => next());

const applicationShape = z.object({
  endpoint: z.string().max(2048),
  clientId: z.string().max(1024),
  clientSecret: z.string().max(1024).optional(),
});

export interface SessionDeps {
  readonly sessions: BrowserSessions;
  readonly slots: Pick<Slots, 'acquire'>;
  readonly verifier: Pick<VerificationClient, 'knownProviders' | 'verify' | 'revoke'>;
  readonly events: SessionEvents;
}

/**
 * Below `base`, for pages of the site: POST `/2/session` with the headers of version 2 turns a bearer token into a session of this browser; the query
 * `seconds` is the token's lifetime. DELETE `/2/session` ends the session and asks the provider to revoke its token, with the endpoint and the application in its JSON body.
 */
export function sessionRoutes(base: string, deps: SessionDeps): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router
    .route(`${base}/2/session`)
    .post(beginSession(deps))
    .delete(readApplication, endSession(deps))
    .all(methodNotAllowed('POST, DELETE', 'json'));
  return router;
}

function beginSession({ sessions, slots, verifier, events }: SessionDeps): RequestHandler {
  return async (request, response) => {
    request.resume();
    const { requestId, clientAddress, signal } = createRequestContext(request, response);
    try {
      if (!sessions.isFromSite(request.headers)) throw new Refusal('not_found', { message: 'path' });
      using slot = slots.acquire(clientAddress, 'unverified');
      const credentials = await credentialsFromHeaders(request.headers, verifier, 'strict');
      const { provider, authorization } = credentials;
      const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
      if (provider === undefined || token === undefined)
        throw new Refusal('credentials_missing', { message: 'headers' });
      const verdict = await verifier.verify({ credentials, clientAddress }, signal);
      const { screenName } = requireCaller(verdict, credentials, slot);
      slot.excuse();
      const endsAt = Date.now() + 1000 * lifetimeShape.parse(request.query).seconds;
      if (!sessions.keep({ provider, token, endsAt }, response))
        throw new Refusal('headers_too_large', { message: 'session' });
      response.set('Cache-Control', 'no-store').json({ provider, name: screenName });
      events.begun(requestId, provider);
    } catch (error) {
      refuse(request, response, error, events);
    }
  };
}

function endSession({ sessions, slots, verifier, events }: SessionDeps): RequestHandler {
  return async (request, response) => {
    const { requestId, clientAddress } = createRequestContext(request, response);
    try {
      if (!sessions.isFromSite(request.headers)) throw new Refusal('not_found', { message: 'path' });
      // Whatever follows, this browser forgets the session.
      sessions.end(response);
      const session = sessions.of(request.headers);
      const application = applicationShape.safeParse(request.body).data;
      using slot = slots.acquire(clientAddress, 'unverified');
      slot.excuse();
      const isRevoked =
        session !== undefined && application !== undefined && (await revoke({ ...session, ...application }));
      response.set('Cache-Control', 'no-store').json({ isRevoked });
      events.ended(requestId, isRevoked);
    } catch (error) {
      refuse(request, response, error, events);
    }
  };

  function revoke(revocation: Parameters<typeof verifier.revoke>[0]): Promise<boolean> {
    return verifier.revoke(revocation).catch((error: unknown) => {
      if (error instanceof VerifierUnavailable) return false;
      throw error;
    });
  }
}

function refuse(request: Request, response: Response, error: unknown, events: SessionEvents): void {
  if (error instanceof ClientGone) return;
  const refusal = asRefusal(error);
  sendRefusal(request, response, 'json', refusal);
  events.refused(createRequestContext(request, response).requestId, refusal);
}
