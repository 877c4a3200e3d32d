import type { AuthorizationClient } from '/scripts/sign-in-client.js';
import {
  clientOfApplication,
  defaultScopes,
  isApplication,
  mastodonServer,
  openIdServer,
  requestOptions,
  revokeToken,
} from '/scripts/sign-in-client.js';
import { SignInFault } from './fault.ts';
import type { Provider, Session } from './page-settings.ts';

const revocationMs = 4000;

/**
 * Options of requests to a provider: plain HTTP only if the operator configured an http: address. `signal` has a time limit, which all requests of a
 * step share.
 */
export function optionsFor(provider: Provider, signal: AbortSignal) {
  const address = provider.profile === 'oidc' ? provider.issuer : provider.provider;
  return requestOptions(signal, new URL(address).protocol === 'http:');
}

/**
 * How this site is known at a provider. Codes and tokens belong to the application with which a sign-in began: another tab may have registered
 * a newer one.
 */
export async function providerClient(
  provider: Provider,
  application: unknown,
  signal: AbortSignal,
): Promise<AuthorizationClient> {
  if (provider.profile === 'oidc') {
    const { issuer, clientId, scope = defaultScopes.oidc[0] } = provider;
    const server = await openIdServer(issuer, optionsFor(provider, signal));
    return { server, client: { client_id: clientId }, secret: undefined, scope, isOpenId: true };
  }
  if (!isApplication(application)) throw new SignInFault('This sign-in has expired. Sign in again.');
  return clientOfApplication(mastodonServer(provider.provider), application);
}

/** Revokes the token of a session. @returns whether the provider confirmed it @throws if the provider does not respond in time */
export async function revokeSession(
  provider: Provider,
  { token, application }: Pick<Session, 'token' | 'application'>,
): Promise<boolean> {
  const signal = AbortSignal.timeout(revocationMs);
  return await revokeToken(await providerClient(provider, application, signal), token, optionsFor(provider, signal));
}
