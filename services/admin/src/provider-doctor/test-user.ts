import { randomBytes } from 'node:crypto';
import type { Provider } from '@echodrop/identity-provider/provider';
import { signedGet } from '@echodrop/oauth/signed-get';
import { Secret } from '@echodrop/service/secret';

/** Whoever a provider is asked about: an OAuth 1.0a application and its user, or a bearer token. */
export interface TestUser {
  readonly signing?: Readonly<Record<'consumerKey' | 'consumerSecret' | 'token' | 'tokenSecret', Secret>>;
  readonly bearer?: Secret;
}

/** Credentials that no provider has given out; different ones each time. */
export function nobody(): TestUser {
  const made = () => new Secret(randomBytes(16).toString('hex'));
  return {
    signing: { consumerKey: made(), consumerSecret: made(), token: made(), tokenSecret: made() },
    bearer: made(),
  };
}

/** `text`, which a provider sent, without the user's credentials, should it have sent them back. */
export function withoutSecretsOf({ signing, bearer }: TestUser, text: string): string {
  const secrets = [...Object.values(signing ?? {}), ...(bearer ? [bearer] : [])];
  // One of them may hold another.
  const longestFirst = secrets.map((secret) => secret.reveal()).sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return text;
  return text.replace(new RegExp(longestFirst.map(RegExp.escape).join('|'), 'g'), '[secret]');
}

/**
 * The Authorization of `user` at `provider`, signed for `address` where its profile signs, each time with a fresh nonce; undefined
 * where the user has no credentials of that sort.
 */
export function authorizationOf(
  { signing, bearer }: TestUser,
  { profile, advertised }: Provider,
  address = advertised,
): string | undefined {
  if (!profile.signsRequests) return bearer && `Bearer ${bearer.reveal()}`;
  if (!signing) return undefined;
  return signedGet(address, {
    consumerKey: signing.consumerKey.reveal(),
    consumerSecret: signing.consumerSecret.reveal(),
    token: signing.token.reveal(),
    tokenSecret: signing.tokenSecret.reveal(),
  });
}
