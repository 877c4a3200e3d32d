import type { Secret } from '@echodrop/service/secret';
import { kindOf, unfit } from './answer-kind.ts';
import { callerFindings } from './caller-findings.ts';
import type { Questions } from './exchange.ts';
import { type Finding, wrong } from './finding.ts';
import { whyNoAnswer } from './no-answer.ts';
import { otherSignedAddresses } from './signed-addresses.ts';
import { authorizationOf, type TestUser } from './test-user.ts';

interface Circumstances {
  readonly timeoutMs: number;
  readonly userIdSecret: Secret | undefined;
  /** Whether the clocks differ by more than signatures bear. */
  readonly isClockTooFar: boolean;
}

/** Whether the test user is verified for real, and if not, why; `authorization` is theirs, for the advertised address. */
export async function* verificationFindings(
  user: TestUser,
  authorization: string,
  questions: Questions,
  { timeoutMs, userIdSecret, isClockTooFar }: Circumstances,
): AsyncGenerator<Finding> {
  const { provider } = questions;
  const asked = await questions.ask(authorization);
  if (!asked.answer) {
    const { sentence } = whyNoAnswer(asked.error, { upstream: provider.upstream, timeoutMs });
    return yield wrong(`Asked with the test user's credentials: ${sentence}`);
  }
  const { answer } = asked;
  const kind = kindOf(answer);
  if (kind === 'acceptance') return yield* callerFindings(answer.body, { user, provider, userIdSecret });
  // Its headers may hold what it was asked with.
  if (kind !== 'refusal')
    return yield wrong(`Asked with the test user's credentials, it ${unfit(kind, { ...answer, headers: {} })}.`);
  const refuses = `It refuses the test user's credentials (${answer.status})`;
  if (!provider.profile.signsRequests)
    yield wrong(`${refuses}: the token is wrong, outdated, or not for what this address tells (its scope).`);
  else if (isClockTooFar) yield wrong(`${refuses}, which the difference between the clocks explains.`);
  else yield await refusedSignature(refuses, user, questions);
}

async function refusedSignature(refuses: string, user: TestUser, questions: Questions): Promise<Finding> {
  const { accepted, tried } = await acceptedAddress(user, questions);
  if (accepted !== undefined)
    return wrong(`${refuses}: the provider checks signatures over ${accepted}: advertise that.`);
  return wrong(
    `${refuses}, and ${tried} signatures over other addresses too: one of the four is wrong or outdated, or it takes no HMAC-SHA1.`,
  );
}

/** The first of the other addresses for which a signature is accepted; stops asking where it is told to, or gets no answer. */
async function acceptedAddress(user: TestUser, questions: Questions): Promise<{ accepted?: string; tried: number }> {
  let tried = 0;
  for (const address of otherSignedAddresses(questions.provider)) {
    const { answer } = await questions.ask(authorizationOf(user, questions.provider, address));
    const kind = answer && kindOf(answer);
    if (kind === 'acceptance') return { accepted: address, tried };
    if (kind === undefined || kind === 'busy') break;
    tried += 1;
  }
  return { tried };
}
