import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Credentials, Verdict } from '@echodrop/contracts/verification';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import { credentialsRefused, Refusal } from '../response/refusal-error.ts';

/**
 * The credentials of version 2 (docs/reference/interface.md section 5.2). In historic mode a missing provider is the first one.
 * @throws Refusal `credentials_missing`, `provider_unknown`; VerifierUnavailable
 */
export async function credentialsFromHeaders(
  headers: IncomingHttpHeaders,
  verifier: Pick<VerificationClient, 'knownProviders'>,
  compatibility: 'strict' | 'historic',
): Promise<Credentials> {
  const authorization = header(headers, 'x-verify-credentials-authorization');
  const named = header(headers, 'x-auth-service-provider')?.replace(/^"(.*)"$/, '$1');
  const isForgiven = compatibility === 'historic' && headers['x-auth-service-provider'] === undefined;
  if (!authorization || (!named && !isForgiven)) throw new Refusal('credentials_missing');
  const known = await verifier.knownProviders();
  const provider = named || known[0];
  if (provider === undefined || !known.includes(provider)) throw new Refusal('provider_unknown');
  return { version: 2, provider, authorization };
}

/** The credentials of version 1 (docs/reference/interface.md section 5.4), or undefined if one of the four secrets is missing. */
export function credentialsFromFields(fields: ReadonlyMap<string, string>): Credentials | undefined {
  const consumerToken = fields.get('consumer_token');
  const consumerSecret = fields.get('consumer_secret');
  const oauthToken = fields.get('oauth_token');
  const oauthSecret = fields.get('oauth_secret');
  if (!consumerToken || !consumerSecret || !oauthToken || !oauthSecret) return undefined;
  return { version: 1, consumerToken, consumerSecret, oauthToken, oauthSecret };
}

/** The verified user. Without a verdict, `excuse` is called: the request is no failure of its address. @throws Refusal for every other verdict */
export function requireCaller(verdict: Verdict, { excuse }: { readonly excuse: () => void }): Caller {
  switch (verdict.outcome) {
    case 'verified':
      return verdict.caller;
    case 'refused':
      throw credentialsRefused(verdict.cause);
    case 'provider_unknown':
      throw new Refusal('provider_unknown');
    case 'provider_unavailable':
      throw new Refusal('provider_unavailable', { retryAfterSeconds: verdict.retryAfterSeconds });
    case 'overloaded':
      excuse();
      throw new Refusal('overloaded', { retryAfterSeconds: verdict.retryAfterSeconds });
  }
}

// Node joins a repeated header with a comma; the result names no provider and verifies nothing.
function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  return headers[name]?.toString().trim() || undefined;
}
