import { redirectPath } from '@echodrop/contracts/sign-in';
import * as oauth from 'oauth4webapi';
import { authorizationAddress, newAttempt, redeemCode } from '../../sign-in/authorization-flow.ts';
import type { Tokens } from '../profiles/profiles.ts';
import { optionsFor, type ProviderClient, prepareClient } from './authorization-client.ts';
import { listenOnLoopback } from './loopback.ts';
import { expiryOf } from './renew-token.ts';
import type { SiteProvider } from './site-settings.ts';

/** What a sign-in gives: tokens, and the user in the ID token, if there is one. */
export interface SignedIn {
  readonly tokens: Tokens;
  readonly subject?: string | undefined;
}

const maxReason = 200;

/**
 * Signs in at a provider, at the address that `onAddress` gets: authorization code with PKCE (RFC 7636) and a redirect to loopback (RFC 8252). Each provider has a redirect URI of its own, so that none gets the code of another one (RFC 8252 section 8.10).
 * @throws Error with the reason of the provider, or what is wrong with its response
 */
export async function signIn(provider: SiteProvider, onAddress: (address: string) => void): Promise<SignedIn> {
  const attempt = newAttempt();
  using loopback = await listenOnLoopback(redirectPath(provider), attempt.state);
  const { redirectUri, redirected } = loopback;
  const prepared = await prepareClient(provider, redirectUri);
  onAddress(await authorizationAddress(prepared, prepared.server.authorization_endpoint, redirectUri, attempt));
  const code = acceptedCode(prepared, await redirected, attempt.state);
  const options = optionsFor(prepared.server.token_endpoint);
  const response = await redeemCode(prepared, code, redirectUri, attempt, options).catch((error: unknown) => {
    throw refusalOf(error, prepared.server);
  });
  return { tokens: tokensOf(prepared, response), subject: oauth.getValidatedIdTokenClaims(response)?.sub };
}

function acceptedCode({ server, client }: ProviderClient, redirect: URL, state: string): URLSearchParams {
  try {
    return oauth.validateAuthResponse(server, client, redirect, state);
  } catch (error) {
    if (!(error instanceof oauth.AuthorizationResponseError)) throw failedAt(server, error);
    const reason =
      error.error === 'access_denied'
        ? 'The request was denied'
        : `The provider reported ${error.error.slice(0, maxReason)}`;
    throw new Error(`${reason}. Run \`echodrop login <site>\` to try again.`);
  }
}

function tokensOf({ server, client, secret }: ProviderClient, response: oauth.TokenEndpointResponse): Tokens {
  return {
    token: response.access_token,
    refreshToken: response.refresh_token,
    expiresAt: expiryOf(response.expires_in),
    client: {
      id: client.client_id,
      secret,
      issuer: server.issuer,
      tokenEndpoint: addressOf(server.token_endpoint),
      revocationEndpoint: addressOf(server.revocation_endpoint),
      algorithms: namesIn(server.id_token_signing_alg_values_supported),
    },
  };
}

// The metadata of a provider is not validated further.
function addressOf(endpoint: unknown): string | undefined {
  return typeof endpoint === 'string' && URL.canParse(endpoint) ? endpoint : undefined;
}

function namesIn(list: unknown): string[] | undefined {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : undefined;
}

function refusalOf(error: unknown, server: oauth.AuthorizationServer): Error {
  if (!(error instanceof oauth.ResponseBodyError)) return failedAt(server, error);
  const { host } = new URL(server.issuer);
  const reason = (error.error_description ?? error.error).slice(0, maxReason).replace(/\.$/, '');
  return new Error(`${host} refused the sign-in: ${reason}.`);
}

function failedAt({ issuer }: oauth.AuthorizationServer, cause: unknown): Error {
  const { host } = new URL(issuer);
  return new Error(`The sign-in at ${host} failed. Try again, or report this to the operator of the site.`, { cause });
}
