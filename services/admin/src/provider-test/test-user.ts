import { randomBytes } from 'node:crypto';
import type { Provider } from '@echodrop/identity-provider/provider';
import { signedGet } from '@echodrop/oauth/signed-get';
import { Secret } from '@echodrop/service/secret';

/** Credentials to verify: those of an OAuth 1.0a application and its user, a bearer token, or both. */
export interface TestUser {
  readonly signing?: Readonly<Record<'consumerKey' | 'consumerSecret' | 'token' | 'tokenSecret', Secret>>;
  readonly bearer?: Secret;
}

/** Makes credentials that no provider has issued; different ones each time. */
export function madeUpUser(): TestUser {
  const random = () => new Secret(randomBytes(16).toString('hex'));
  return {
    signing: { consumerKey: random(), consumerSecret: random(), token: random(), tokenSecret: random() },
    bearer: random(),
  };
}

/** Removes the user's credentials from `text`, in case a provider sent them back. */
export function redactSecrets({ signing, bearer }: TestUser, text: string): string {
  const secrets = [...Object.values(signing ?? {}), ...(bearer ? [bearer] : [])];
  // One secret may contain another.
  const longestFirst = secrets.map((secret) => secret.reveal()).sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return text;
  return text.replace(new RegExp(longestFirst.map(RegExp.escape).join('|'), 'g'), '[secret]');
}

/** The Authorization header of `user`, signed for `address` if the profile signs requests; undefined without such credentials. */
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
