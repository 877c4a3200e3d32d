import type { ProviderResponse } from '@echodrop/identity-provider/provider-connections';
import type { ProviderProfile } from '@echodrop/identity-provider/provider-profiles';
import { kindOf, unfit } from './answer-kind.ts';
import { type Finding, note, ok, warn, wrong } from './finding.ts';

/** Whether it refuses, as the profile says, who must be refused: what it says to made-up credentials, and to none. */
export function* refusalFindings(
  madeUp: ProviderResponse,
  bare: ProviderResponse,
  profile: ProviderProfile,
): Generator<Finding> {
  const [kind, bareKind] = [kindOf(madeUp), kindOf(bare)];
  if (kind === 'acceptance') {
    yield wrong('DANGER: it accepts made-up credentials, so that anybody could upload as anybody. Do not use it.');
  } else if (kind === 'refusal') {
    yield ok(`It refuses made-up credentials (${madeUp.status}).`);
    yield* schemeFindings(madeUp, profile);
  } else {
    yield wrong(`Asked with made-up credentials, it ${unfit(kind, madeUp)}.`);
  }
  if (kind === bareKind) return;
  if (bareKind === 'acceptance') yield warn('It answers 200 with JSON to who brings no credentials at all.');
  else if (bareKind !== 'refusal')
    yield note(`Asked without credentials, which the auth-verifier never does, it ${unfit(bareKind, bare)}.`);
}

function* schemeFindings({ headers }: ProviderResponse, { schemes }: ProviderProfile): Generator<Finding> {
  const named = ['OAuth', 'Bearer'].filter((scheme) =>
    new RegExp(`(^|, *)${scheme}( |,|$)`, 'i').test(headers['www-authenticate'] ?? ''),
  );
  if (named.length > 0 && !named.some((scheme) => schemes.includes(scheme)))
    yield warn(
      `It asks for ${named.join(' or ')} (WWW-Authenticate), and the profile sends ${schemes.join(' or ')}: is the profile right?`,
    );
}
