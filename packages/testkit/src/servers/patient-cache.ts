import { patienceMs } from '../patience.ts';

/**
 * The address of a cache that responds, however late. An auth-verifier waits 500 ms for a command, but ioredis prefers options in the address,
 * and ignores a limit that is no number.
 */
export function patientCache({ url }: { readonly url: string }): string {
  return `${url}?commandTimeout=none&socketTimeout=${patienceMs}`;
}
