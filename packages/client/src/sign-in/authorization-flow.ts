import * as oauth from 'oauth4webapi';
import { readBody } from '../read-body.ts';

export {
  AuthorizationResponseError,
  clientCredentialsGrantRequest,
  getValidatedIdTokenClaims,
  OperationProcessingError,
  processUserInfoResponse,
  ResponseBodyError,
  type TokenEndpointResponse,
  UnsupportedOperationError,
  userInfoRequest,
  validateAuthResponse,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';

/** An authorization server, and how this program is known there: with a secret, or as a public client. */
export interface AuthorizationClient<Server = oauth.AuthorizationServer> {
  readonly server: Server;
  readonly client: oauth.Client;
  readonly secret: string | undefined;
  readonly scope: string;
  readonly isOpenId: boolean;
}

/** What an authorization response must fit. The verifier must survive the redirect. */
export interface Attempt {
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
}

/** A program that registered itself at a Mastodon instance. */
export interface Application {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

interface Registration {
  readonly name: string;
  readonly redirectUri: string;
  readonly website?: string;
  /** The scopes of which one is requested: the first that the instance names, or the last. */
  readonly scopes: readonly string[];
}

/** The scopes of a sign-in without a configured one. Mastodon before 4.3 has no scope `profile`, which shows nothing but the account. */
export const defaultScopes = { mastodon: ['profile', 'read:accounts'], oidc: ['openid profile'] } as const;

// RFC 6749, appendix A, allows these characters. The limit of the length is Echodrop's.
const fieldSyntax = /^[\x20-\x7e]{1,1000}$/;

/** An instance has not registered an application. */
export class RegistrationFailed extends Error {
  override readonly name = 'RegistrationFailed';
  /** The status of the response; undefined if the response is a success without an application. */
  readonly status: number | undefined;

  constructor(status: number | undefined) {
    super(status === undefined ? 'The response has no application.' : `The response has status ${status}.`);
    this.status = status;
  }
}

/** `fetch` whose response has at most 1 MiB and follows no redirect: a hostile provider could fill the memory, or lead credentials elsewhere. */
export async function limitedFetch(address: string | URL, init: RequestInit & { readonly signal: AbortSignal }) {
  const response = await fetch(address, { redirect: 'error', ...init });
  if (!response.body) return response;
  return new Response((await readBody(response, init.signal)) || null, response);
}

/** Options of each request to an authorization server. `signal` has the time limit; plain HTTP is only for some addresses. */
export function requestOptions(signal: AbortSignal, allowsHttp: boolean) {
  return {
    signal,
    [oauth.allowInsecureRequests]: allowsHttp,
    [oauth.customFetch]: (address: string, init: RequestInit) => limitedFetch(address, { ...init, signal }),
  };
}

type Options = ReturnType<typeof requestOptions>;

/** The endpoints of a Mastodon instance, which has no metadata before 4.3. */
export function mastodonServer(provider: string) {
  const { origin } = new URL(provider);
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    revocation_endpoint: `${origin}/oauth/revoke`,
  };
}

/** The metadata of an OpenID provider, which must name `issuer`. */
export async function openIdServer(issuer: string, options: Options): Promise<oauth.AuthorizationServer> {
  const address = new URL(issuer);
  return oauth.processDiscoveryResponse(address, await oauth.discoveryRequest(address, options));
}

/** Registers a program at a Mastodon instance. @throws RegistrationFailed, or what `fetch` throws */
export async function registerApplication(
  { issuer }: oauth.AuthorizationServer,
  { name, redirectUri, website, scopes }: Registration,
  signal: AbortSignal,
): Promise<Application> {
  const scope = await chooseScope(issuer, scopes, signal);
  const fields = { client_name: name, redirect_uris: redirectUri, scopes: scope, ...(website && { website }) };
  const body = new URLSearchParams(fields);
  const response = await limitedFetch(`${issuer}/api/v1/apps`, { method: 'POST', body, signal });
  if (!response.ok) throw new RegistrationFailed(response.status);
  return applicationIn(await response.text(), scope);
}

/** The first scope that an instance names, or the last one. Some software registers any scope, and refuses it later. */
async function chooseScope(issuer: string, scopes: readonly string[], signal: AbortSignal): Promise<string> {
  const last = scopes.at(-1) ?? '';
  if (scopes.length === 1) return last;
  try {
    const response = await limitedFetch(`${issuer}/.well-known/oauth-authorization-server`, { signal });
    const { scopes_supported: named } = parseJson(await response.text()) ?? {};
    return scopes.find((scope) => Array.isArray(named) && named.includes(scope)) ?? last;
  } catch {
    // Older releases have no such document. After a timeout, the registration fails with the same signal.
    return last;
  }
}

function applicationIn(text: string, scope: string): Application {
  const { client_id: clientId, client_secret: clientSecret } = parseJson(text) ?? {};
  const application = { clientId, clientSecret, scope };
  if (!isApplication(application)) throw new RegistrationFailed(undefined);
  return application;
}

/** Whether a response or a storage has a complete application. */
export function isApplication(value: unknown): value is Application {
  const { clientId, clientSecret, scope } = (value ?? {}) as Partial<Record<keyof Application, unknown>>;
  return [clientId, clientSecret, scope].every((field) => typeof field === 'string' && fieldSyntax.test(field));
}

/** How the program of a registration is known at its instance. */
export function clientOfApplication<Server>(
  server: Server,
  { clientId, clientSecret, scope }: Application,
): AuthorizationClient<Server> {
  return { server, client: { client_id: clientId }, secret: clientSecret, scope, isOpenId: false };
}

export function newAttempt(): Attempt {
  return {
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
  };
}

/** Where the user signs in, to be redirected to `redirectUri`: authorization code with PKCE (RFC 7636). */
export async function authorizationAddress(
  { client, scope, isOpenId }: AuthorizationClient<unknown>,
  endpoint: string | URL,
  redirectUri: string,
  { verifier, state, nonce }: Attempt,
): Promise<string> {
  const address = new URL(endpoint);
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(isOpenId && { nonce }),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

/** Exchanges the code of a valid authorization response for tokens. @throws errors of oauth4webapi */
export async function redeemCode(
  { server, client, secret, isOpenId }: AuthorizationClient,
  code: URLSearchParams,
  redirectUri: string,
  { verifier, nonce }: Attempt,
  options: Options,
): Promise<oauth.TokenEndpointResponse> {
  const authentication = authenticationOf(secret);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    code,
    redirectUri,
    verifier,
    options,
  );
  const checks = isOpenId ? { expectedNonce: nonce, requireIdToken: true } : {};
  return oauth.processAuthorizationCodeResponse(server, client, response, checks);
}

/** Ends a token at the provider (RFC 7009). @returns whether the provider confirmed it; it may have no address for it */
export async function revokeToken(
  { server, client, secret }: Pick<AuthorizationClient, 'server' | 'client' | 'secret'>,
  token: string,
  options: Options,
): Promise<boolean> {
  if (!server.revocation_endpoint) return false;
  const response = await oauth.revocationRequest(server, client, authenticationOf(secret), token, options);
  return response.ok;
}

/** Client authentication at the token endpoint: the registered secret; none for a public client. */
export function authenticationOf(secret: string | undefined): oauth.ClientAuth {
  return secret === undefined ? oauth.None() : oauth.ClientSecretPost(secret);
}

/** The fields of an object in JSON; undefined if it is no JSON. */
export function parseJson(text: string): Partial<Record<string, unknown>> | null | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
