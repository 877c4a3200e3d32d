import { generateKeyPairSync, hash, randomUUID, sign } from 'node:crypto';
import {
  oauthError,
  redirectTo,
  type SignInStandIn,
  type StandInRequest,
  type StandInResponse,
  startStandInServer,
} from './stand-in-server.ts';

interface Code {
  readonly redirectUri: string;
  readonly challenge: string | null;
  readonly nonce: string | null;
}

export interface OidcStandIn
  extends SignInStandIn<
    'expired' | 'other-nonce' | 'other-issuer' | 'no-issuer' | 'other-subject' | 'no-cors' | 'login-required'
  > {
  /** Registers the one site allowed by CORS, with its redirect path. */
  registerSite(origin: string, redirectPath: string): void;
}

const clientId = 'echodrop';

/**
 * A stand-in for a provider of OpenID Connect (Core 1.0, Discovery 1.0, RFC 9207) with a public client: the issuer has a path, token and UserInfo endpoints
 * are on another origin, and CORS allows one registered site. Its one user has `token` and consents at once.
 */
export async function startOidcStandIn(token: string): Promise<OidcStandIn> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const codes = new Map<string, Code>();
  const state = { flaw: undefined as OidcStandIn['flaw'] };
  const seen: string[] = [];
  const revoked: string[] = [];
  let site = '';
  let redirectPath = '';

  const cors = ({ headers }: StandInRequest): Record<string, string> | undefined =>
    headers.origin === site && state.flaw !== 'no-cors'
      ? {
          'Access-Control-Allow-Origin': site,
          'Access-Control-Allow-Headers': headers['access-control-request-headers'] ?? '',
          Vary: 'Origin',
        }
      : undefined;
  const withCors =
    (routes: Record<string, (request: StandInRequest) => StandInResponse>) =>
    (request: StandInRequest): StandInResponse | undefined => {
      if (request.route.startsWith('OPTIONS ')) return { status: 204, headers: cors(request) ?? {} };
      const response = routes[request.route]?.(request);
      return response && { ...response, headers: { ...response.headers, ...cors(request) } };
    };

  const idToken = (nonce: string | null) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      sub: 'e8f1-ada',
      aud: clientId,
      iat: now,
      exp: now + 60,
      nonce: state.flaw === 'other-nonce' ? 'another' : nonce,
    };
    const signed = [{ alg: 'RS256' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
  };

  const back = await startStandInServer(
    seen,
    withCors({
      'POST /token': ({ form }) => {
        const code = codes.get(form.get('code') ?? '');
        codes.delete(form.get('code') ?? '');
        const isFit =
          form.get('client_id') === clientId &&
          code?.redirectUri === form.get('redirect_uri') &&
          code?.challenge === hash('sha256', form.get('code_verifier') ?? '', 'base64url');
        if (!isFit || state.flaw === 'expired') return oauthError(400, 'invalid_grant');
        return {
          json: { access_token: token, token_type: 'Bearer', expires_in: 300, id_token: idToken(code?.nonce ?? null) },
        };
      },
      'POST /revoke': ({ form }) => {
        revoked.push(form.get('token') ?? '');
        return {};
      },
      'GET /userinfo': ({ headers }) =>
        headers.authorization === `Bearer ${token}`
          ? {
              json: {
                sub: state.flaw === 'other-subject' ? 'eve' : 'e8f1-ada',
                preferred_username: 'ada',
                name: 'Ada L',
              },
            }
          : oauthError(401, 'invalid_token'),
    }),
  );
  const front = await startStandInServer(
    seen,
    withCors({
      'GET /realms/town/.well-known/openid-configuration': () => ({
        json: {
          issuer,
          authorization_endpoint: `${front.origin}/realms/town/auth`,
          token_endpoint: `${back.origin}/token`,
          userinfo_endpoint: `${back.origin}/userinfo`,
          revocation_endpoint: `${back.origin}/revoke`,
          jwks_uri: `${back.origin}/certs`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: state.flaw !== 'no-issuer',
        },
      }),
      'GET /realms/town/auth': ({ query }) => {
        const redirectUri = query.get('redirect_uri') ?? '';
        const isFit = query.get('client_id') === clientId && redirectUri === site + redirectPath;
        if (!isFit || query.get('code_challenge_method') !== 'S256') return oauthError(400, 'invalid_request');
        const iss = state.flaw === 'other-issuer' ? back.origin : issuer;
        const parameters = { state: query.get('state'), iss: state.flaw === 'no-issuer' ? null : iss };
        if (state.flaw === 'login-required')
          return redirectTo(redirectUri, {
            ...parameters,
            error: 'login_required',
            error_description: 'Not <b>signed</b> in',
          });
        const code = randomUUID();
        codes.set(code, { redirectUri, challenge: query.get('code_challenge'), nonce: query.get('nonce') });
        return redirectTo(redirectUri, { ...parameters, code });
      },
    }),
  );
  const issuer = `${front.origin}/realms/town`;
  const provider = `${back.origin}/userinfo`;
  return Object.assign(state, {
    signIn: { name: 'Town hall', profile: 'oidc', provider, issuer, clientId },
    identityProvider: `oidc ${provider}`,
    seen,
    revoked,
    registerSite(...registered: [string, string]) {
      [site, redirectPath] = registered;
    },
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await back[Symbol.asyncDispose]();
    },
  });
}
