import type { Provider } from '@echodrop/identity-provider/provider';
import type { ProviderConnections, ProviderResponse } from '@echodrop/identity-provider/provider-connections';
import { type ProviderProfile, profileNames, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import type { Secret } from '@echodrop/service/secret';
import { type Finding, note, ok, warn, wrong } from '../finding.ts';
import { clockFinding, isSkewTooLarge } from './clock-skew.ts';
import { hostFinding } from './host-finding.ts';
import { type Completed, queriesTo } from './provider-queries.ts';
import { describeUnusable, kindOf } from './response-kind.ts';
import { authorizationOf, madeUpUser, type TestUser } from './test-user.ts';
import { verificationFindings } from './verification-findings.ts';

interface Examination {
  readonly connections: ProviderConnections;
  /** Limit for each request. */
  readonly timeoutMs: number;
  readonly user: TestUser;
  /** Derives user.id from subjects that are not integers. */
  readonly userIdSecret: Secret | undefined;
}

/** The title of an examination: the advertised address, the profile, and the upstream address if it differs. */
export function titleOf({ advertised, upstream, profile }: Provider): string {
  const name = profileNames.find((candidate) => providerProfiles[candidate] === profile);
  const { origin, pathname } = new URL(upstream);
  return `${advertised} (profile ${name})${upstream === advertised ? '' : `, queried at ${origin}${pathname}`}`;
}

/** Examines a provider, and yields each finding at once. Sends at most fourteen requests, one at a time, to the upstream address only. */
export async function* examineProvider(provider: Provider, examination: Examination): AsyncGenerator<Finding> {
  const { timeoutMs, user, userIdSecret } = examination;
  const queries = queriesTo(provider, examination.connections, timeoutMs);

  const bare = await queries.send();
  if (!bare.response) {
    yield wrong(bare.failure.sentence);
    if (bare.failure.isConnected && provider.upstream !== provider.advertised) yield await hostFinding([bare], queries);
    return;
  }
  yield latencyFinding(bare, timeoutMs);
  yield clockFinding(bare, provider.profile);
  if (kindOf(bare.response) === 'rate limit')
    return yield wrong(`It ${describeUnusable('rate limit', bare.response)}.`);

  const madeUp = await queries.send(authorizationOf(madeUpUser(), provider));
  const host = await hostFinding([bare, madeUp], queries);
  yield host;
  if (host.weight === 'wrong') return;
  if (!madeUp.response) return yield wrong(`With made-up credentials: ${madeUp.failure.sentence}`);
  yield* refusalFindings(madeUp.response, bare.response, provider.profile);
  if (kindOf(madeUp.response) === 'rate limit') return;

  const authorization = authorizationOf(user, provider);
  if (authorization === undefined)
    return yield note(`Not tested: whether it verifies a real user. To test that, set ${requiredSettings(provider)}.`);
  const isTooFar = provider.profile.signsRequests && isSkewTooLarge(bare);
  yield* verificationFindings(user, authorization, queries, { userIdSecret, isSkewTooLarge: isTooFar });
}

function latencyFinding({ begun, ended }: Completed, timeoutMs: number): Finding {
  const took = ended - begun;
  const sentence = `It responds after ${took} ms; the limit is ${timeoutMs} ms.`;
  return took > timeoutMs / 2 ? warn(sentence) : ok(sentence);
}

function requiredSettings({ profile }: Provider): string {
  return profile.signsRequests
    ? 'PROVIDER_TEST_CONSUMER_KEY, PROVIDER_TEST_CONSUMER_SECRET, PROVIDER_TEST_TOKEN and PROVIDER_TEST_TOKEN_SECRET, or files named in PROVIDER_TEST_…_FILE'
    : 'PROVIDER_TEST_BEARER or PROVIDER_TEST_BEARER_FILE';
}

/** Whether the provider refuses as its profile says, given its responses to made-up credentials and to none (`bare`). */
function* refusalFindings(
  madeUp: ProviderResponse,
  bare: ProviderResponse,
  profile: ProviderProfile,
): Generator<Finding> {
  const kind = kindOf(madeUp);
  const bareKind = kindOf(bare);
  if (kind === 'acceptance') {
    yield wrong('DANGER: it accepts made-up credentials, so anyone could upload as any user. Do not use it.');
  } else if (kind === 'refusal') {
    yield ok(`It refuses made-up credentials (${madeUp.status}).`);
    yield* schemeFindings(madeUp, profile);
  } else {
    yield wrong(`For made-up credentials, it ${describeUnusable(kind, madeUp)}.`);
  }
  if (kind === bareKind) return;
  if (bareKind === 'acceptance') yield warn('It responds 200 with JSON to requests without credentials.');
  else if (bareKind !== 'refusal')
    yield note(`Without credentials, which the auth-verifier always sends, it ${describeUnusable(bareKind, bare)}.`);
}

function* schemeFindings({ headers }: ProviderResponse, { schemes }: ProviderProfile): Generator<Finding> {
  const named = ['OAuth', 'Bearer'].filter((scheme) =>
    new RegExp(`(^|, *)${scheme}( |,|$)`, 'i').test(headers['www-authenticate'] ?? ''),
  );
  if (named.length > 0 && !named.some((scheme) => schemes.includes(scheme)))
    yield warn(
      `It expects ${named.join(' or ')} (WWW-Authenticate), but the profile sends ${schemes.join(' or ')}. Check the profile.`,
    );
}
