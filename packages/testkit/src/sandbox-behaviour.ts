/** Every way in which the sandbox provider fails on demand. */
export const providerFailures = [
  'slow',
  'down',
  'cut-off',
  'endless',
  'unavailable',
  'too-many',
  'refusing',
  'redirect',
  'html',
  'broken-json',
  'no-id',
  'no-name',
  'too-large',
  'wrong-clock',
] as const;

export type ProviderFailure = (typeof providerFailures)[number];

/** Makes the sandbox provider at `provider` fail, or behave as the real one does. */
export async function setBehaviour(provider: string, behaviour: ProviderFailure | 'normal'): Promise<void> {
  const body = new URLSearchParams({ behaviour });
  const { status } = await fetch(new URL('/behaviour', provider), { method: 'POST', body, redirect: 'manual' });
  if (status !== 303) throw new Error(`the sandbox provider responds with ${status} to the behaviour ${behaviour}`);
}
