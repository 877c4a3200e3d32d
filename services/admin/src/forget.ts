import type { ProviderUser } from '@echodrop/contracts/verification';
import type { VerificationClient } from '@echodrop/contracts/verification-client';

/**
 * Drops cached verdicts about a user at every verifier.
 * @returns a line to print
 * @throws Error with a message to print, if the provider is not known or the verifier or its cache is unavailable
 */
export async function forget(verifier: VerificationClient, user: ProviderUser): Promise<string> {
  const { provider, subject } = user;
  if (subject === '') throw new Error("The subject is empty. It is the user's id as the provider sends it.");
  await verifier.ready().catch(rethrowAs('Verifier unavailable. Check VERIFIER_URL and VERIFIER_SECRET.'));
  const known = await verifier.knownProviders();
  if (!known.includes(provider))
    throw new Error(`Unknown provider ${provider}. The verifier knows ${known.join(', ')}`);
  await verifier
    .forget(user)
    .catch(rethrowAs('The verifier could not forget the user. Check its cache (CACHE_REDIS_URL or REDIS_URL).'));
  return (
    `Dropped cached verdicts for user "${subject}" of ${provider}; the provider is queried again. ` +
    'Cached refusals expire within ten seconds.'
  );
}

function rethrowAs(message: string): (error: unknown) => never {
  return (error) => {
    throw new Error(message, { cause: error instanceof Error ? (error.cause ?? error) : error });
  };
}
