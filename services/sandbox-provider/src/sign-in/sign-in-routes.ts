import cors from 'cors';
import express, { type RequestHandler, Router } from 'express';
import { sandboxProfiles } from '../profiles.ts';
import { addressOf } from '../request-address.ts';
import type { Accounts } from '../users.ts';
import { decide, requestConsent } from './authorize.ts';
import { Clients, registration } from './clients.ts';
import type { Grants } from './grants.ts';
import { publicKeys } from './id-token.ts';
import { issueToken, revokeToken } from './token.ts';

// Mastodon lets every site query these; no site may query the consent page.
const forScripts = ['/api', '/.well-known', '/oauth/token', '/oauth/revoke', '/jwks', sandboxProfiles.oidc.path];

/** Signing in with the authorization code flow, like at Mastodon and at a provider of OpenID Connect. */
export function signInRoutes({ users }: Accounts, siteName: string, grants: Grants): Router {
  const dependencies = { users, grants, clients: new Clients(siteName) };
  const form = express.urlencoded({ extended: false, limit: '32kb', parameterLimit: 30 });
  const router = Router({ caseSensitive: true, strict: true });
  router.use(forScripts, cors({ methods: ['GET', 'POST', 'DELETE'], maxAge: 7200 }));
  router.get(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'], sendMetadata);
  router.get('/jwks', (_request, response) => void response.json(publicKeys()));
  router.post('/api/v1/apps', form, express.json({ limit: '32kb' }), registerApp(dependencies.clients));
  router.get('/oauth/authorize', requestConsent(dependencies));
  router.post('/oauth/authorize', form, decide(dependencies));
  router.post('/oauth/token', form, issueToken(dependencies));
  router.post('/oauth/revoke', form, revokeToken(dependencies));
  return router;
}

/** The metadata of OpenID Connect Discovery 1.0 and RFC 8414, at the requested host. */
const sendMetadata: RequestHandler = (_request, response) => {
  const { origin } = addressOf(response);
  response.json({
    issuer: origin,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    revocation_endpoint: `${origin}/oauth/revoke`,
    app_registration_endpoint: `${origin}/api/v1/apps`,
    userinfo_endpoint: origin + sandboxProfiles.oidc.path,
    jwks_uri: `${origin}/jwks`,
    scopes_supported: ['openid', 'profile', 'read', 'read:accounts'],
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'client_credentials'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_post', 'client_secret_basic'],
    authorization_response_iss_parameter_supported: true,
  });
};

/** `POST /api/v1/apps` of Mastodon: registers an application. */
function registerApp(clients: Clients): RequestHandler {
  return (request, response) => {
    const { data, error } = registration.safeParse(request.body ?? {});
    if (!data) {
      const fields = new Set(error.issues.map(({ path: [field = 'form'] }) => String(field)));
      response.status(422).json({ error: `Validation failed: ${[...fields].join(', ')} is missing or invalid` });
      return;
    }
    const { id, secret } = clients.register(data);
    response.json({
      id: '1',
      name: data.client_name,
      website: data.website ?? null,
      scopes: data.scopes.split(' '),
      redirect_uri: data.redirect_uris.join('\n'),
      redirect_uris: data.redirect_uris,
      client_id: id,
      client_secret: secret,
      client_secret_expires_at: 0,
    });
  };
}
