import { hash, randomUUID } from 'node:crypto';
import {
  oauthError,
  redirectTo,
  type SignInStandIn,
  type StandInRequest,
  type StandInResponse,
  startStandInServer,
} from './stand-in-server.ts';

interface Code {
  readonly clientId: string | null;
  readonly redirectUri: string;
  readonly challenge: string | null;
}

export interface MastodonStandIn
  extends SignInStandIn<'expired' | 'old-release' | 'no-account' | 'no-registration' | 'overloaded'> {
  /** Names of registered applications and their scopes. */
  readonly registered: readonly string[];
  /** Removes all applications, as Mastodon does if they have no users. */
  forgetApplications(): void;
}

/**
 * A stand-in for Mastodon's documented sign-in (docs.joinmastodon.org: "apps", "oauth", "accounts"; `config/initializers/cors.rb`): a confidential client,
 * CORS for /api, /oauth/token and /.well-known only, no `iss` in the response. Its one user has `token` and consents at once.
 */
export async function startMastodonStandIn(token: string): Promise<MastodonStandIn> {
  const secrets = new Map<string, { secret: string; redirectUris: string; scope: string }>();
  const codes = new Map<string, Code>();
  const state = { flaw: undefined as MastodonStandIn['flaw'] };
  const seen: string[] = [];
  const registered: string[] = [];
  const revoked: string[] = [];

  const routes: Record<string, (request: StandInRequest) => StandInResponse> = {
    'GET /.well-known/oauth-authorization-server': () =>
      state.flaw === 'old-release'
        ? { status: 404 }
        : { json: { issuer: `${server.origin}/`, scopes_supported: ['read', 'profile', 'read:accounts'] } },
    'POST /api/v1/apps': ({ form }) => {
      const scope = form.get('scopes') ?? 'read';
      const isKnown = scope === 'read:accounts' || (scope === 'profile' && state.flaw !== 'old-release');
      if (state.flaw === 'no-registration' || !isKnown) return { status: 422, json: { error: 'Validation failed' } };
      const clientId = randomUUID();
      const secret = randomUUID();
      secrets.set(clientId, { secret, redirectUris: form.get('redirect_uris') ?? '', scope });
      registered.push(`${form.get('client_name')} ${scope}`);
      return { json: { client_id: clientId, client_secret: secret } };
    },
    'GET /oauth/authorize': ({ query }) => {
      const clientId = query.get('client_id') ?? '';
      const redirectUri = query.get('redirect_uri') ?? '';
      const client = secrets.get(clientId);
      const isFit = client?.redirectUris.split('\n').includes(redirectUri) && query.get('scope') === client.scope;
      if (!isFit || query.get('response_type') !== 'code') return oauthError(400, 'invalid_request');
      const code = randomUUID();
      codes.set(code, { clientId, redirectUri, challenge: query.get('code_challenge') });
      return redirectTo(redirectUri, { code, state: query.get('state') });
    },
    'POST /oauth/token': ({ form }) => {
      if (state.flaw === 'overloaded') return { status: 429, json: { error: 'Too many requests' } };
      const client = secrets.get(form.get('client_id') ?? '');
      if (!client || client.secret !== form.get('client_secret')) return oauthError(401, 'invalid_client');
      const created = { token_type: 'Bearer', scope: client.scope, created_at: 1 };
      if (form.get('grant_type') === 'client_credentials') return { json: { access_token: 'application', ...created } };
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const isFit =
        code?.clientId === form.get('client_id') &&
        code?.redirectUri === form.get('redirect_uri') &&
        code?.challenge === hash('sha256', form.get('code_verifier') ?? '', 'base64url');
      if (!isFit || state.flaw === 'expired') return oauthError(400, 'invalid_grant');
      return { json: { access_token: token, ...created } };
    },
    'POST /oauth/revoke': ({ form }) => {
      if (secrets.get(form.get('client_id') ?? '')?.secret !== form.get('client_secret'))
        return oauthError(403, 'unauthorized_client');
      revoked.push(form.get('token') ?? '');
      return {};
    },
    'GET /api/v1/accounts/verify_credentials': ({ headers }) => {
      if (state.flaw === 'no-account') return { json: {} };
      return headers.authorization === `Bearer ${token}`
        ? { json: { id: '117', username: 'ada', acct: 'ada', display_name: 'Ada <b>L</b>' } }
        : { status: 401, json: { error: 'The access token is invalid' } };
    },
  };

  const server = await startStandInServer(seen, (request) => {
    const cors = corsOf(request);
    if (request.route.startsWith('OPTIONS ')) return cors && { status: 204, headers: cors };
    const response = routes[request.route]?.(request);
    return response && { ...response, headers: { ...response.headers, ...cors } };
  });
  const provider = `${server.origin}/api/v1/accounts/verify_credentials`;
  return Object.assign(state, {
    signIn: { name: 'Town', profile: 'mastodon', provider },
    identityProvider: `mastodon ${provider}`,
    seen,
    revoked,
    registered,
    forgetApplications: () => secrets.clear(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
}

function corsOf({ route, headers }: StandInRequest): Record<string, string> | undefined {
  if (!/ (\/api\/|\/oauth\/token$|\/\.well-known\/)/.test(route) || headers.origin === undefined) return undefined;
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': 'POST, PUT, DELETE, GET, PATCH, OPTIONS',
    'Access-Control-Allow-Headers': headers['access-control-request-headers'] ?? '',
  };
}
