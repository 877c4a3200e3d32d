import type { ProviderResponse } from '@echodrop/identity-provider/provider-connections';
import type { ProviderProfile } from '@echodrop/identity-provider/provider-profiles';
import { type Finding, note, ok, warn, wrong } from './finding.ts';
import { describeUnusable, kindOf } from './response-kind.ts';

/** Whether the provider refuses as its profile says, given its responses to made-up credentials and to none (`bare`). */
export function* refusalFindings(
  madeUp: ProviderResponse,
  bare: ProviderResponse,
  profile: ProviderProfile,
): Generator<Finding> {
  const [kind, bareKind] = [kindOf(madeUp), kindOf(bare)];
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
