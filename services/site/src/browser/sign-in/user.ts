import type { AuthorizationClient, TokenEndpointResponse } from '/scripts/sign-in-client.js';
import {
  getValidatedIdTokenClaims,
  limitedFetch,
  parseJson,
  processUserInfoResponse,
  userInfoRequest,
} from '/scripts/sign-in-client.js';
import { accountName } from './account-name.ts';
import { ProviderFault } from './fault.ts';

/** Name and id of a user at a Mastodon instance. */
export async function mastodonUser(provider: string, token: string, signal: AbortSignal) {
  const response = await limitedFetch(provider, { headers: { Authorization: `Bearer ${token}` }, signal });
  if (!response.ok) throw new ProviderFault(`did not confirm the account (status ${response.status})`);
  const { id, display_name: displayName, username } = parseJson(await response.text()) ?? {};
  if (!accountName(undefined, username)) throw new ProviderFault('sent an account without a user name');
  return { name: accountName(displayName, username), subject: String(id) };
}

/** Name and subject of a user at an OpenID provider, who must be the one of the ID token. */
export async function openIdUser(
  { server, client }: AuthorizationClient,
  tokens: TokenEndpointResponse,
  options: Parameters<typeof userInfoRequest>[3],
) {
  const subject = getValidatedIdTokenClaims(tokens)?.sub ?? '';
  const response = await userInfoRequest(server, client, tokens.access_token, options);
  const user = await processUserInfoResponse(server, client, subject, response);
  const { name, preferred_username: username, sub } = user;
  return { name: accountName(name, username) || accountName(undefined, sub), subject: sub };
}
