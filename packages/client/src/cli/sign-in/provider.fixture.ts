import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '@echodrop/testkit/servers/listen';
import { idToken, metadataOf, providersOf } from './provider-documents.fixture.ts';

interface Grant {
  readonly client: string;
  readonly redirect: string;
  readonly challenge: string;
  readonly scope: string;
  readonly nonce: string | null;
}

/** How the provider differs from a current one that grants everything. */
export interface Behaviour {
  /** Like Mastodon before 4.3. */
  refusesProfileScope: boolean;
  deniesUser: boolean;
  /** Says nothing about the user of a token. */
  hidesUser: boolean;
  /** Signs the id token for another sign-in. */
  wrongNonce: boolean;
  tokenSeconds: number | undefined;
  /** A refresh token is valid once. */
  rotates: boolean;
  /** Refuses every code. */
  refusesCode: boolean;
  /** What a response with tokens waits for, after they were issued. */
  beforeTokens: () => Promise<unknown> | undefined;
  /** The status of every renewal. */
  renewalStatus: number | undefined;
  /** Overrides the metadata of the OpenID provider. */
  metadata: Record<string, unknown>;
  /** Overrides what the site names for each provider. */
  named: Record<string, unknown>;
  /** Redirects the requests of this method and path. */
  redirected: { readonly path: string; readonly to: string } | undefined;
}

/**
 * A fake site with `/sign-in/providers.json`, and two fake providers that follow the documentation of Mastodon ("OAuth", "apps" API methods) and
 * OpenID Connect Core 1.0. The user grants every authorization request at once.
 */
export interface ProviderStandIn extends AsyncDisposable {
  readonly origin: string;
  readonly behaviour: Behaviour;
  /** What the site publishes for clients. */
  readonly settings: { upload: string; apiKey: string };
  /** All requests. `path` includes the method. */
  readonly requests: { readonly path: string; readonly form: URLSearchParams }[];
  readonly validTokens: Set<string>;
}

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

export async function startProvider(): Promise<ProviderStandIn> {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const registered = new Map<string, { secret: string; redirect: string; scope: string }>();
  const codes = new Map<string, Grant>();
  const validTokens = new Set<string>();
  const requests: ProviderStandIn['requests'] = [];
  let refreshToken = 'refresh-1';
  const settings = { upload: 'https://upload.example', apiKey: 'pages' };
  const behaviour: Behaviour = {
    refusesProfileScope: false,
    deniesUser: false,
    hidesUser: false,
    wrongNonce: false,
    tokenSeconds: undefined,
    rotates: false,
    refusesCode: false,
    beforeTokens: () => undefined,
    renewalStatus: undefined,
    metadata: {},
    named: {},
    redirected: undefined,
  };

  const authorize = (query: URLSearchParams, response: ServerResponse) => {
    const get = (name: string) => query.get(name) ?? '';
    const back = new URL(get('redirect_uri'));
    const application = registered.get(get('client_id'));
    const isKnown =
      application?.redirect === back.href || (get('client_id') === 'public' && back.hostname === '127.0.0.1');
    if (!isKnown || get('response_type') !== 'code' || get('code_challenge_method') !== 'S256')
      return json(response, { error: 'invalid_request' }, 400);
    const result = new URLSearchParams({ state: get('state') });
    if (behaviour.deniesUser) result.set('error', 'access_denied');
    else {
      const code = randomUUID();
      const grant = { client: get('client_id'), redirect: back.href, challenge: get('code_challenge') };
      codes.set(code, { ...grant, scope: get('scope'), nonce: query.get('nonce') });
      result.set('code', code);
    }
    return response.writeHead(302, { Location: `${back.href}?${result}` }).end();
  };

  // A code works once, and only with its own client, redirect URI and verifier.
  const takeGrant = (client: string, form: URLSearchParams): Grant | undefined => {
    const code = form.get('code') ?? '';
    const grant = behaviour.refusesCode ? undefined : codes.get(code);
    codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const requested = [client, form.get('redirect_uri'), challenge].join(' ');
    return grant && [grant.client, grant.redirect, grant.challenge].join(' ') === requested ? grant : undefined;
  };

  const takeRefreshToken = (form: URLSearchParams): boolean => {
    const isValid = form.get('refresh_token') === refreshToken;
    if (isValid && behaviour.rotates) refreshToken = `refresh-${randomUUID()}`;
    return isValid;
  };

  const token = async (form: URLSearchParams, response: ServerResponse) => {
    const client = form.get('client_id') ?? '';
    const secret = registered.get(client)?.secret;
    if (secret !== undefined && form.get('client_secret') !== secret)
      return json(response, { error: 'invalid_client' }, 401);
    const isRenewal = form.get('grant_type') === 'refresh_token';
    const grant = isRenewal ? undefined : takeGrant(client, form);
    if (isRenewal ? !takeRefreshToken(form) : !grant) return json(response, { error: 'invalid_grant' }, 400);
    const issued = `token-${randomUUID()}`;
    validTokens.add(issued);
    const nonce = behaviour.wrongNonce ? 'of another' : grant?.nonce;
    const body = {
      access_token: issued,
      token_type: 'Bearer',
      scope: grant?.scope,
      ...(behaviour.tokenSeconds && { expires_in: behaviour.tokenSeconds, refresh_token: refreshToken }),
      ...(client === 'public' && { id_token: idToken(origin(), client, nonce, keys.privateKey) }),
    };
    await behaviour.beforeTokens();
    return json(response, body);
  };

  const user = async (request: IncomingMessage, response: ServerResponse, found: Record<string, unknown>) => {
    return validTokens.has(/^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '')
      ? json(response, behaviour.hidesUser ? {} : found)
      : json(response, { error: 'invalid_token' }, 401);
  };

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const form = new URLSearchParams(await text(request));
    requests.push({ path: `${request.method} ${pathname}`, form });
    const routes: Record<string, () => unknown> = {
      'GET /sign-in/providers.json': () => {
        const providers = providersOf(origin()).map((each) => ({ ...each, ...behaviour.named }));
        return json(response, { ...settings, providers });
      },
      'GET /.well-known/oauth-authorization-server': () =>
        json(response, { scopes_supported: behaviour.refusesProfileScope ? ['read'] : ['read', 'profile'] }),
      'POST /api/v1/apps': () => {
        const scope = form.get('scopes') ?? '';
        if (scope === 'profile' && behaviour.refusesProfileScope) return json(response, { error: 'scopes' }, 422);
        const id = randomUUID();
        registered.set(id, { secret: randomUUID(), redirect: form.get('redirect_uris') ?? '', scope });
        return json(response, { client_id: id, client_secret: registered.get(id)?.secret });
      },
      'GET /oauth/authorize': () => authorize(searchParams, response),
      'POST /oauth/token': () =>
        form.has('refresh_token') && behaviour.renewalStatus
          ? json(response, {}, behaviour.renewalStatus)
          : token(form, response),
      'POST /oauth/revoke': async () => {
        validTokens.delete(form.get('token') ?? '');
        return json(response, {});
      },
      'GET /api/v1/accounts/verify_credentials': () => user(request, response, { id: '42', username: 'mia' }),
      'GET /userinfo': () => user(request, response, { sub: 'u-1', preferred_username: 'max' }),
      'GET /.well-known/openid-configuration': () => json(response, metadataOf(origin(), behaviour.metadata)),
    };
    const { redirected } = behaviour;
    const route = routes[`${request.method} ${pathname}`];
    if (redirected?.path === `${request.method} ${pathname}`)
      response.writeHead(307, { Location: redirected.to }).end();
    else if (route) route();
    else json(response, {}, 404);
  });
  const listening = await listen(server);
  const origin = () => listening.origin;
  return { ...listening, behaviour, settings, requests, validTokens };
}
