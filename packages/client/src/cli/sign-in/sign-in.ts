import { redirectPath } from '@echodrop/contracts/sign-in';
import * as oauth from 'oauth4webapi';
import * as z from 'zod/mini';
import { type Attempt, authorizationAddress, newAttempt, redeemCode } from '../../sign-in/authorization-flow.ts';
import { finishFirst } from '../on-end.ts';
import { optionsFor, type ProviderClient, prepareClient } from './authorization-client.ts';
import { listenOnLoopback } from './loopback.ts';
import type { SiteProvider } from './site-settings.ts';

/** Tokens of a provider, and what is needed to renew or revoke them. */
export interface Grant extends ProviderClient {
  readonly token: string;
  readonly refreshToken: string | undefined;
  readonly expiresInSeconds: number | undefined;
}

interface SignInEvents {
  /** The user must open this address. */
  onAddress(address: string): void;
  /** The provider has issued these tokens. They are not validated yet, so the sign-in can still fail. */
  onTokens(grant: Grant): void;
}

const maxReason = 200;
const tokensShape = z.object({ access_token: z.string(), refresh_token: z.optional(z.string()) });

/** The user or the provider denied the sign-in. */
export class SignInDenied extends Error {
  override readonly name = 'SignInDenied';
}

/**
 * Signs in at a provider: authorization code with PKCE (RFC 7636) and a redirect to loopback (RFC 8252). Each provider has a redirect URI of its own, so that none gets the code of another one (RFC 8252 section 8.10).
 * @throws SignInDenied, or an error of the provider or the protocol
 */
export async function signIn(
  provider: SiteProvider,
  { onAddress, onTokens }: SignInEvents,
): Promise<Grant & { readonly subject: string | undefined }> {
  const loopback = await listenOnLoopback(redirectPath(provider));
  try {
    const prepared = await prepareClient(provider, loopback.redirectUri);
    const attempt = newAttempt();
    const { redirectUri } = loopback;
    const address = await authorizationAddress(prepared, prepared.server.authorization_endpoint, redirectUri, attempt);
    const redirected = loopback.receive(attempt.state);
    onAddress(address);
    const code = acceptedCode(prepared, await redirected, attempt.state);
    // A signal must not end the process before the tokens are known, which it revokes.
    const tokens = await finishFirst(() => redeem(prepared, code, { redirectUri, attempt, onTokens }));
    return {
      ...prepared,
      /** The user in the ID token; none without OpenID Connect. */
      subject: oauth.getValidatedIdTokenClaims(tokens)?.sub,
      token: tokens.access_token,
      refreshToken: tokens.refresh_token,
      expiresInSeconds: tokens.expires_in,
    };
  } finally {
    loopback.close();
  }
}

interface Redemption extends Pick<SignInEvents, 'onTokens'> {
  readonly redirectUri: string;
  readonly attempt: Attempt;
}

async function redeem(
  prepared: ProviderClient,
  code: URLSearchParams,
  { redirectUri, attempt, onTokens }: Redemption,
): Promise<oauth.TokenEndpointResponse> {
  const { server } = prepared;
  const noteTokens = async (response: Response) => {
    const { data } = tokensShape.safeParse(await response.json().catch(() => undefined));
    if (!data) return;
    const { access_token: token, refresh_token: refreshToken } = data;
    onTokens({ ...prepared, token, refreshToken, expiresInSeconds: undefined });
  };
  try {
    return await redeemCode(prepared, code, redirectUri, attempt, optionsFor(server.token_endpoint), noteTokens);
  } catch (error) {
    if (!(error instanceof oauth.ResponseBodyError)) throw failedAt(server, error);
    const { host } = new URL(server.issuer);
    const reason = (error.error_description ?? error.error).slice(0, maxReason).replace(/\.$/, '');
    throw new SignInDenied(`${host} refused the sign-in: ${reason}.`);
  }
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
    throw new SignInDenied(`${reason}. Run \`echodrop login <site>\` to try again.`);
  }
}

function failedAt({ issuer }: oauth.AuthorizationServer, cause: unknown): Error {
  const { host } = new URL(issuer);
  return new Error(`The sign-in at ${host} failed. Try again, or report this to the operator of the site.`, { cause });
}
