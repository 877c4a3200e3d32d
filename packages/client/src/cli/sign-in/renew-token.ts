import * as oauth from 'oauth4webapi';
import { UsageError } from '../command-context.ts';
import { type Profile, writeProfile } from '../profiles.ts';
import { requestOptions } from './authorization-client.ts';
import { authenticationOf } from './sign-in.ts';

const marginMs = 60_000;

/** The profile with a token that is valid for a minute or more. It is renewed and stored if necessary. @throws UsageError if it has ended */
export async function freshProfile(env: NodeJS.ProcessEnv, name: string, profile: Profile): Promise<Profile> {
  const { expiresAt, client, refreshToken } = profile;
  if (expiresAt === undefined || Date.parse(expiresAt) > Date.now() + marginMs) return profile;
  if (!client?.tokenEndpoint || !refreshToken)
    throw new UsageError('The sign-in has expired. Run `echodrop login` again.');
  const server = { issuer: client.issuer, token_endpoint: client.tokenEndpoint };
  const known = { client_id: client.id };
  try {
    const options = requestOptions(client.tokenEndpoint);
    const authentication = authenticationOf({ secret: client.secret });
    const response = await oauth.refreshTokenGrantRequest(server, known, authentication, refreshToken, options);
    const tokens = await oauth.processRefreshTokenResponse(server, known, response);
    const renewed: Profile = {
      ...profile,
      token: tokens.access_token,
      refreshToken: tokens.refresh_token ?? refreshToken,
      expiresAt: expiryOf(tokens.expires_in),
    };
    await writeProfile(env, name, renewed);
    return renewed;
  } catch (cause) {
    throw new UsageError('The sign-in could not be renewed. Run `echodrop login` again.', { cause });
  }
}

/** Ends the token at the provider, if it can. A failure is ignored: the provider may be away, and the token is forgotten here. */
export async function revokeToken({ client, token, refreshToken }: Profile): Promise<void> {
  if (!client?.revocationEndpoint) return;
  const server = { issuer: client.issuer, revocation_endpoint: client.revocationEndpoint };
  const authentication = authenticationOf({ secret: client.secret });
  const options = { ...requestOptions(client.revocationEndpoint), signal: AbortSignal.timeout(5000) };
  const known = { client_id: client.id };
  for (const each of [refreshToken, token]) {
    if (each !== undefined) await oauth.revocationRequest(server, known, authentication, each, options).catch(() => {});
  }
}

/** The time at which a token ends, as profiles store it. */
export function expiryOf(expiresInSeconds: number | undefined): string | undefined {
  return expiresInSeconds === undefined ? undefined : new Date(Date.now() + expiresInSeconds * 1000).toISOString();
}
