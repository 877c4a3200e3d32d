import type { Secret } from '@echodrop/service/secret';
import { callerFindings } from './caller-findings.ts';
import type { Queries } from './exchange.ts';
import { type Finding, wrong } from './finding.ts';
import { describeUnusable, kindOf } from './response-kind.ts';
import { otherSignedAddresses } from './signed-addresses.ts';
import { authorizationOf, type TestUser } from './test-user.ts';

interface Circumstances {
  readonly userIdSecret: Secret | undefined;
  /** Whether the clocks differ by more than providers accept in signatures. */
  readonly isSkewTooLarge: boolean;
}

/** Whether the provider verifies the test user, and if not, why. `authorization` is theirs, for the advertised address. */
export async function* verificationFindings(
  user: TestUser,
  authorization: string,
  queries: Queries,
  { userIdSecret, isSkewTooLarge }: Circumstances,
): AsyncGenerator<Finding> {
  const { provider } = queries;
  const attempt = await queries.send(authorization);
  if (!attempt.response) return yield wrong(`With the test user's credentials: ${attempt.failure.sentence}`);
  const { response } = attempt;
  const kind = kindOf(response);
  if (kind === 'acceptance') return yield* callerFindings(response.body, { user, provider, userIdSecret });
  // Its headers may contain the credentials.
  if (kind !== 'refusal')
    return yield wrong(`For the test user's credentials, it ${describeUnusable(kind, { ...response, headers: {} })}.`);
  const refuses = `It refuses the test user's credentials (${response.status})`;
  if (!provider.profile.signsRequests)
    yield wrong(`${refuses}: the token is wrong, expired, or lacks the scope for this address.`);
  else if (isSkewTooLarge) yield wrong(`${refuses} because the clocks differ.`);
  else yield await refusedSignature(refuses, user, queries);
}

/** Tries signatures over other addresses until one is accepted; stops at a rate limit or without a response. */
async function refusedSignature(refuses: string, user: TestUser, queries: Queries): Promise<Finding> {
  let tried = 0;
  for (const address of otherSignedAddresses(queries.provider)) {
    const { response } = await queries.send(authorizationOf(user, queries.provider, address));
    const kind = response && kindOf(response);
    if (kind === 'acceptance')
      return wrong(`${refuses}: it checks signatures over ${address}. Advertise that address.`);
    if (kind === undefined || kind === 'rate limit') break;
    tried += 1;
  }
  return wrong(
    `${refuses}, and signatures over ${tried} other addresses too: one of the four is wrong or expired, or HMAC-SHA1 is not supported.`,
  );
}
