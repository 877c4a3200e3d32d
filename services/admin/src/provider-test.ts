import { type Provider, providerOf } from '@echodrop/identity-provider/provider';
import type { ProviderConnections } from '@echodrop/identity-provider/provider-connections';
import type { Secret } from '@echodrop/service/secret';
import { hostFinding } from './provider-doctor/advertised-host.ts';
import { kindOf, unfit } from './provider-doctor/answer-kind.ts';
import { clockFinding, isTooFar } from './provider-doctor/clock-skew.ts';
import { type Answered, Questions } from './provider-doctor/exchange.ts';
import { type Finding, note, ok, warn, wrong } from './provider-doctor/finding.ts';
import { whyNoAnswer } from './provider-doctor/no-answer.ts';
import { refusalFindings } from './provider-doctor/refusals.ts';
import { authorizationOf, nobody, type TestUser } from './provider-doctor/test-user.ts';
import { verificationFindings } from './provider-doctor/verification.ts';

interface Asking {
  readonly connections: ProviderConnections;
  /** What each question may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly user: TestUser;
  /** What makes a number of a subject that is none. */
  readonly userIdSecret: Secret | undefined;
}

/**
 * The provider that an operator names: the configured one that advertises `entry`, or what `entry` itself says. Undefined when it is
 * neither.
 */
export function entryMeant(entry: string, configured: readonly Provider[]): Provider | undefined {
  return configured.find(({ advertised }) => advertised === entry) ?? providerOf(entry);
}

/**
 * Examines a provider and tells what is found as it is found; only the address that is really asked is asked, fourteen times at most,
 * one question after the other.
 */
export async function* providerTest(provider: Provider, asking: Asking): AsyncGenerator<Finding> {
  const { timeoutMs, user, userIdSecret } = asking;
  const questions = new Questions(provider, asking.connections);

  const bare = await questions.ask();
  if (!bare.answer) {
    const { sentence, wasHeard } = whyNoAnswer(bare.error, { upstream: provider.upstream, timeoutMs });
    yield wrong(sentence);
    if (wasHeard && provider.upstream !== provider.advertised) yield await hostFinding([bare], questions);
    return;
  }
  yield reachedFinding(bare, timeoutMs);
  yield clockFinding(bare, provider.profile);
  if (kindOf(bare.answer) === 'busy') return yield wrong(`It ${unfit('busy', bare.answer)}.`);

  const madeUp = await questions.ask(authorizationOf(nobody(), provider));
  const host = await hostFinding([bare, madeUp], questions);
  yield host;
  if (host.weight === 'wrong') return;
  if (madeUp.answer) {
    yield* refusalFindings(madeUp.answer, bare.answer, provider.profile);
    if (kindOf(madeUp.answer) === 'busy') return;
  } else {
    const { sentence } = whyNoAnswer(madeUp.error, { upstream: provider.upstream, timeoutMs });
    return yield wrong(`Asked with made-up credentials: ${sentence}`);
  }

  const authorization = authorizationOf(user, provider);
  if (authorization === undefined) return yield note(`Not tried with a real user: ${wanted(provider)}.`);
  const isClockTooFar = provider.profile.signsRequests && isTooFar(bare);
  yield* verificationFindings(user, authorization, questions, { timeoutMs, userIdSecret, isClockTooFar });
}

function reachedFinding({ begun, ended }: Answered, timeoutMs: number): Finding {
  const took = ended - begun;
  const sentence = `It is reached, and answers after ${took} ms; ${timeoutMs} are allowed.`;
  return took > timeoutMs / 2 ? warn(sentence) : ok(sentence);
}

function wanted({ profile }: Provider): string {
  return profile.signsRequests
    ? 'set PROVIDER_TEST_CONSUMER_KEY, _CONSUMER_SECRET, _TOKEN and _TOKEN_SECRET, or _FILE of each'
    : 'set PROVIDER_TEST_BEARER or PROVIDER_TEST_BEARER_FILE';
}
