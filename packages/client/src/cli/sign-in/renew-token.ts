import * as oauth from 'oauth4webapi';
import { authenticationOf, revokeToken as revoke } from '../../sign-in/authorization-flow.ts';
import { UsageError } from '../command-context.ts';
import { lockProfile, type Profile, readProfile, storeProfile, type Tokens } from '../profiles/profiles.ts';
import { optionsFor } from './authorization-client.ts';

// A token with less time is renewed. The shortest lifetime in use is a minute, in Keycloak's older realms.
const marginMs = 20_000;
const revocationMs = 5000;

/**
 * The profile with a token that is valid for 20 seconds or more, and that is not `refused`. It is renewed and stored if necessary and possible.
 * @throws UsageError if it has ended, Error if the provider does not respond or the profile cannot be stored
 */
export async function freshProfile(
  env: NodeJS.ProcessEnv,
  name: string,
  profile: Profile,
  refused?: string,
): Promise<Profile> {
  if (!needsRenewal(profile, refused)) return profile;
  await using _lock = await lockProfile(env, name);
  // Another command may have renewed or replaced the token.
  const stored = await readProfile(env, name);
  if (!stored || !isSameAccount(stored, profile))
    throw new UsageError(
      `Another command has signed out the profile ${name} or changed its user. Run this command again.`,
    );
  if (!needsRenewal(stored, refused)) return stored;
  const { client, refreshToken } = stored;
  if (client?.tokenEndpoint && refreshToken) {
    const tokens = await renew(client, client.tokenEndpoint, refreshToken);
    const renewed: Profile = {
      ...stored,
      token: tokens.access_token,
      refreshToken: tokens.refresh_token ?? refreshToken,
      expiresAt: expiryOf(tokens.expires_in),
    };
    await storeProfile(env, name, renewed);
    return renewed;
  }
  if (isEnding(stored)) throw new UsageError('The sign-in has expired. Run `echodrop login` again.');
  return stored;
}

function needsRenewal(profile: Profile, refused: string | undefined): boolean {
  return isEnding(profile) || profile.token === refused;
}

function isEnding({ expiresAt }: Profile): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now() + marginMs;
}

async function renew(
  { id, secret, issuer, algorithms }: NonNullable<Profile['client']>,
  tokenEndpoint: string,
  refreshToken: string,
): Promise<oauth.TokenEndpointResponse> {
  // A response may contain an ID token.
  const server = {
    issuer,
    token_endpoint: tokenEndpoint,
    ...(algorithms && { id_token_signing_alg_values_supported: [...algorithms] }),
  };
  const known = { client_id: id };
  try {
    const options = optionsFor(tokenEndpoint);
    const authentication = authenticationOf(secret);
    const response = await oauth.refreshTokenGrantRequest(server, known, authentication, refreshToken, options);
    return await oauth.processRefreshTokenResponse(server, known, response);
  } catch (cause) {
    if (isRefusal(cause))
      throw new UsageError('The sign-in could not be renewed. Run `echodrop login` again.', { cause });
    throw new Error(`${new URL(tokenEndpoint).host} could not renew the sign-in. Try again later.`, { cause });
  }
}

// A response with 429 has an error in its body, too.
function isRefusal(error: unknown): boolean {
  return (
    error instanceof oauth.WWWAuthenticateChallengeError ||
    (error instanceof oauth.ResponseBodyError && error.status !== 429)
  );
}

function isSameAccount(one: Profile, other: Profile): boolean {
  return one.provider === other.provider && one.subject === other.subject && one.service === other.service;
}

/** Ends the tokens at the provider. Returns whether it confirmed that; it may be away, or have no such endpoint. */
export async function revokeToken({ client, token, refreshToken }: Tokens): Promise<boolean> {
  if (!client?.revocationEndpoint) return false;
  const { id, secret, issuer, revocationEndpoint } = client;
  const known = { server: { issuer, revocation_endpoint: revocationEndpoint }, client: { client_id: id }, secret };
  let isRevoked = true;
  for (const each of [refreshToken, token]) {
    if (each === undefined) continue;
    if (!(await revoke(known, each, optionsFor(revocationEndpoint, revocationMs)).catch(() => false)))
      isRevoked = false;
  }
  return isRevoked;
}

/** The time at which a token ends, as profiles store it; undefined if it is unknown or later than a date can be. */
export function expiryOf(expiresInSeconds = Number.POSITIVE_INFINITY): string | undefined {
  const time = new Date(Date.now() + expiresInSeconds * 1000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
