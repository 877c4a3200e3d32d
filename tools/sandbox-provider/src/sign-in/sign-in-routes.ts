import express, { Router } from 'express';
import { sandboxProfiles } from '../profiles/profiles.ts';
import { notAllowed } from '../refuse.ts';
import type { Accounts } from '../users.ts';
import { allowAnyOrigin } from './allow-any-origin.ts';
import { decide, requestConsent } from './authorize.ts';
import { Clients } from './clients.ts';
import type { Grants } from './grants.ts';
import { IdTokens } from './id-token.ts';
import { sendMetadata } from './metadata.ts';
import { registerApp } from './register-app.ts';
import { issueToken, revokeToken } from './token.ts';

// Mastodon lets every site query these; no site may query the consent page.
const forScripts = ['/api', '/.well-known', '/oauth/token', '/oauth/revoke', '/jwks', sandboxProfiles.oidc.path];

/** Signing in with the authorization code flow, like at Mastodon and at a provider of OpenID Connect. */
export function signInRoutes({ users }: Accounts, siteName: string, grants: Grants): Router {
  const dependencies = { users, grants, clients: new Clients(siteName), idTokens: new IdTokens() };
  const { clients, idTokens } = dependencies;
  const form = express.urlencoded({ extended: false, limit: '32kb', parameterLimit: 30 });
  const router = Router({ caseSensitive: true, strict: true });
  router.use(forScripts, allowAnyOrigin);
  const get = (path: string, handler: express.RequestHandler) =>
    router.route(path).get(handler).all(notAllowed('GET, HEAD'));
  const post = (path: string, ...handlers: express.RequestHandler[]) =>
    router
      .route(path)
      .post(...handlers)
      .all(notAllowed('POST'));

  get('/.well-known/openid-configuration', sendMetadata);
  get('/.well-known/oauth-authorization-server', sendMetadata);
  get('/jwks', (_request, response) => void response.json(idTokens.jwks));
  post('/api/v1/apps', form, express.json({ limit: '32kb' }), registerApp(clients));
  router
    .route('/oauth/authorize')
    .get(requestConsent(dependencies))
    .post(form, decide(dependencies))
    .all(notAllowed('GET, HEAD, POST'));
  post('/oauth/token', form, issueToken(dependencies));
  post('/oauth/revoke', form, revokeToken(dependencies));
  return router;
}
