import { setTimeout } from 'node:timers/promises';
import * as oauth from 'oauth4webapi';
import { UsageError } from '../command-context.ts';
import { draftProfile, type Profile, readProfile } from '../profiles.ts';
import { requestOptions } from './authorization-client.ts';
import { authenticationOf } from './sign-in.ts';

const marginMs = 60_000;

/**
 * The profile with a token that is valid for a minute or more, and that is not `refused`. It is renewed and stored if necessary and possible.
 * @throws UsageError if it has ended, Error if the provider does not respond or the profile cannot be stored
 */
export async function freshProfile(
  env: NodeJS.ProcessEnv,
  name: string,
  profile: Profile,
  refused?: string,
): Promise<Profile> {
  const { expiresAt, client, refreshToken, token } = profile;
  const isEnding = expiresAt !== undefined && Date.parse(expiresAt) <= Date.now() + marginMs;
  if (!isEnding && token !== refused) return profile;
  if (!client?.tokenEndpoint || !refreshToken) {
    if (!isEnding) return profile;
    throw new UsageError('The sign-in has expired. Run `echodrop login` again.');
  }
  const stored = await readProfile(env, name);
  if (!stored || !isSameAccount(stored, profile))
    throw new UsageError(
      `Another command has signed out the profile ${name} or changed its user. Run this command again.`,
    );
  if (stored.token !== token) return freshProfile(env, name, stored, refused);
  const renewing = { ...client, tokenEndpoint: client.tokenEndpoint };
  return renewProfile(env, name, profile, () => renew(renewing, refreshToken));
}

async function renewProfile(
  env: NodeJS.ProcessEnv,
  name: string,
  profile: Profile,
  request: () => Promise<oauth.TokenEndpointResponse>,
): Promise<Profile> {
  // Opened first: a refresh token may be valid once, so a new one that could not be stored would end the sign-in.
  await using draft = await draftProfile(env, name);
  try {
    const tokens = await request();
    const renewed: Profile = {
      ...profile,
      token: tokens.access_token,
      refreshToken: tokens.refresh_token ?? profile.refreshToken,
      expiresAt: expiryOf(tokens.expires_in),
    };
    await draft.store(renewed);
    return renewed;
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    const renewed = await renewedElsewhere(env, name, profile);
    if (renewed) return renewed;
    throw new UsageError('The sign-in could not be renewed. Run `echodrop login` again.', { cause });
  }
}

type RenewingClient = NonNullable<Profile['client']> & { readonly tokenEndpoint: string };

async function renew({ id, secret, issuer, tokenEndpoint, algorithms }: RenewingClient, refreshToken: string) {
  // A response may contain an ID token.
  const server = {
    issuer,
    token_endpoint: tokenEndpoint,
    ...(algorithms && { id_token_signing_alg_values_supported: [...algorithms] }),
  };
  const known = { client_id: id };
  try {
    const options = requestOptions(tokenEndpoint);
    const authentication = authenticationOf({ secret });
    const response = await oauth.refreshTokenGrantRequest(server, known, authentication, refreshToken, options);
    return await oauth.processRefreshTokenResponse(server, known, response);
  } catch (cause) {
    if (isRefusal(cause)) throw cause;
    throw new Error(`${new URL(tokenEndpoint).host} could not renew the sign-in. Try again later.`, { cause });
  }
}

// 429 has an error in its body, too.
function isRefusal(error: unknown): boolean {
  return (
    error instanceof oauth.WWWAuthenticateChallengeError ||
    (error instanceof oauth.ResponseBodyError && error.status !== 429)
  );
}

/** The profile that another process renewed with the same refresh token, which is valid once. It may still be writing it. */
async function renewedElsewhere(env: NodeJS.ProcessEnv, name: string, old: Profile): Promise<Profile | undefined> {
  for (let n = 0; n < 10; n += 1) {
    const stored = await readProfile(env, name);
    if (stored && isSameAccount(stored, old) && stored.token !== old.token) return stored;
    await setTimeout(100);
  }
  return undefined;
}

function isSameAccount(one: Profile, other: Profile): boolean {
  return one.provider === other.provider && one.subject === other.subject && one.service === other.service;
}

/** Ends the tokens at the provider. Returns whether it confirmed that; it may be away, or have no such endpoint. */
export async function revokeToken({
  client,
  token,
  refreshToken,
}: Pick<Profile, 'client' | 'token' | 'refreshToken'>): Promise<boolean> {
  if (!client?.revocationEndpoint) return false;
  const server = { issuer: client.issuer, revocation_endpoint: client.revocationEndpoint };
  const authentication = authenticationOf({ secret: client.secret });
  const options = { ...requestOptions(client.revocationEndpoint), signal: AbortSignal.timeout(5000) };
  const known = { client_id: client.id };
  let isRevoked = true;
  for (const each of [refreshToken, token]) {
    if (each === undefined) continue;
    const revoke = async () =>
      oauth.processRevocationResponse(await oauth.revocationRequest(server, known, authentication, each, options));
    await revoke().catch(() => {
      isRevoked = false;
    });
  }
  return isRevoked;
}

/** The time at which a token ends, as profiles store it; undefined if it is unknown or later than a date can be. */
export function expiryOf(expiresInSeconds = Number.POSITIVE_INFINITY): string | undefined {
  const time = new Date(Date.now() + expiresInSeconds * 1000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
