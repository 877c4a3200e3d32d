import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Credentials, Verdict } from '@echodrop/contracts/verification';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import type { FormContent } from '../receive/form-content.ts';
import { secretNames } from '../receive/part-headers.ts';
import { isPlain, Refusal } from '../response/refusal-error.ts';

type EchoCredentials = Extract<Credentials, { version: 2 }>;

const echoHeader = 'X-Verify-Credentials-Authorization';
const providerHeader = 'X-Auth-Service-Provider';
const maxProvidersShown = 2;

/** Whether a request has a bearer token for the user's identity provider in its own header (RFC 6750 section 2.1). */
export function hasBearerToken({ authorization = '' }: IncomingHttpHeaders): boolean {
  return /^bearer[ \t]/i.test(authorization);
}

/**
 * The credentials of version 2 (docs/reference/interface.md section 5.2), or a bearer token, which needs no provider if only one accepts such.
 * In historic mode a missing provider of the former is the first one.
 * @throws Refusal `credentials_missing`, `provider_unknown`, `request_malformed` for both; VerifierUnavailable
 */
export async function credentialsFromHeaders(
  headers: IncomingHttpHeaders,
  verifier: Pick<VerificationClient, 'knownProviders'>,
  compatibility: 'strict' | 'historic',
): Promise<EchoCredentials> {
  const echo = header(headers, echoHeader);
  const bearer = hasBearerToken(headers) ? headers.authorization?.trim() : undefined;
  const named = header(headers, providerHeader)?.replace(/^"(.*)"$/, '$1');
  if (echo && bearer && echo !== bearer) throw twoProofs(echoHeader);
  const authorization = echo ?? bearer;
  if (!authorization)
    throw named ? headerMissing(echoHeader) : new Refusal('credentials_missing', { message: 'headers' });
  if (!named && !echo) return { version: 2, authorization };
  const isForgiven = compatibility === 'historic' && headers['x-auth-service-provider'] === undefined;
  if (!named && !isForgiven) throw headerMissing(providerHeader);
  const known = await verifier.knownProviders();
  const provider = named || known[0];
  if (provider === undefined || !known.includes(provider)) throw providerUnknown(known);
  return { version: 2, provider, authorization };
}

function headerMissing(name: string): Refusal {
  return new Refusal('credentials_missing', { message: 'header', values: { name } });
}

/** The refusal (400) of a request with a bearer token and another proof. */
export function twoProofs(other: string): Refusal {
  return new Refusal('request_malformed', { message: 'twoProofs', values: { first: 'Authorization', second: other } });
}

function providerUnknown(known: readonly string[]): Refusal {
  const shown = known.slice(0, maxProvidersShown).filter((address) => isPlain(address));
  if (!isPlain(shown.join(', '))) return new Refusal('provider_unknown', { message: 'header' });
  const values = { providers: shown.join(', ') };
  return new Refusal('provider_unknown', { message: shown.length === known.length ? 'listed' : 'some', values });
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

/** The refusal of a form of version 1 without its four secrets. */
export function secretsMissing({ fields, misplaced }: Pick<FormContent, 'fields' | 'misplaced'>): Refusal {
  const name = secretNames.find((each) => misplaced.has(each));
  if (name) {
    const sign = misplaced.get(name) ?? '';
    return new Refusal('credentials_missing', { message: 'sentAsFile', values: { name, sign } });
  }
  const names = secretNames.filter((each) => !fields.get(each)).join(', ');
  return new Refusal('credentials_missing', { message: 'fields', values: { names } });
}

/**
 * The verified user of `credentials`. Without a verdict, `excuse` is called: the request is no failure of its address.
 * @throws Refusal for every other verdict
 */
export function requireCaller(
  verdict: Verdict,
  credentials: Credentials,
  request: { readonly excuse: () => void },
): Caller {
  switch (verdict.outcome) {
    case 'verified':
      return verdict.caller;
    case 'refused':
      throw new Refusal('credentials_refused', { message: refusedMessage(verdict.cause) });
    case 'provider_unknown':
      if (credentials.version === 1) throw new Refusal('provider_unknown', { message: 'secrets' });
      if (credentials.provider === undefined) throw new Refusal('credentials_missing', { message: 'provider' });
      throw new Refusal('provider_unknown', { message: 'header' });
    case 'provider_unavailable':
      throw new Refusal('provider_unavailable', { retryAfterSeconds: verdict.retryAfterSeconds });
    case 'overloaded':
      request.excuse();
      if (verdict.isOwnShare)
        throw new Refusal('too_many_requests', {
          message: 'addressUploads',
          retryAfterSeconds: verdict.retryAfterSeconds,
        });
      throw new Refusal('overloaded', { retryAfterSeconds: verdict.retryAfterSeconds });
  }
}

// An auth-verifier of another release may send other causes.
function refusedMessage(cause: string | undefined) {
  return cause === 'unsupported_scheme' ? cause : 'provider';
}

// Node joins a repeated header with a comma. The joined text names no provider and verifies nothing.
function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  return headers[name.toLowerCase()]?.toString().trim() || undefined;
}
