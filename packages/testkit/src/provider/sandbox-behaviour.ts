/** The failures that the sandbox provider can simulate. */
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

/** Sets the failure that the sandbox provider at `provider` simulates, or none. `seconds`: the delay of `slow`. */
export async function setBehaviour(
  provider: string,
  behaviour: ProviderFailure | 'normal',
  seconds = 10,
): Promise<void> {
  const body = new URLSearchParams({ behaviour, seconds: String(seconds) });
  const { status } = await fetch(new URL('/behaviour', provider), { method: 'POST', body, redirect: 'manual' });
  if (status !== 303) throw new Error(`the sandbox provider returned ${status} for the behaviour ${behaviour}`);
}
