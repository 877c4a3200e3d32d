import type { ProviderUser } from '@echodrop/contracts/verification';
import type { VerificationClient } from '@echodrop/contracts/verification-client';

/**
 * Makes every verifier forget what it remembers of a user, at once: the provider is asked anew at the next upload.
 * @returns one line for people
 * @throws Error, for people too, where the provider is not known or it cannot be done now
 */
export async function forget(verifier: VerificationClient, user: ProviderUser): Promise<string> {
  const { provider, subject } = user;
  if (subject === '') throw new Error('The subject is empty; it is the id of the user as the provider sends it');
  await verifier.ready().catch((error: unknown) => {
    throw failed(
      'The verifier cannot be asked: VERIFIER_URL says where it is, VERIFIER_SECRET is what both know',
      error,
    );
  });
  const known = await verifier.knownProviders();
  if (!known.includes(provider))
    throw new Error(`No provider is advertised as ${provider}; the verifier knows ${known.join(', ')}`);
  await verifier.forget(user).catch((error: unknown) => {
    throw failed(
      'The verifier answers and could not forget: is its cache (CACHE_REDIS_URL or REDIS_URL) in reach?',
      error,
    );
  });
  return (
    `From now on whatever was remembered of the user "${subject}" of ${provider} is void, and each of their proofs is asked about anew. ` +
    'A refusal that is remembered, of whomever, ends by itself within ten seconds.'
  );
}

function failed(message: string, error: unknown): Error {
  return new Error(message, { cause: error instanceof Error ? (error.cause ?? error) : error });
}
