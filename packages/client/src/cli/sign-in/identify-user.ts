import * as z from 'zod/mini';
import { authorizationOf, type Proof } from '../../credentials.ts';
import { fetchJson, StatusError } from './fetch-json.ts';

export interface User {
  readonly name: string;
  /** The id that the provider never reassigns. */
  readonly subject: string;
}

const id = z.union([z.string(), z.number(), z.bigint()]);
// Fields of the profiles in docs/reference/identity-providers.md.
const userShape = z.object({
  sub: z.optional(id),
  user_id: z.optional(id),
  id_str: z.optional(id),
  id: z.optional(id),
  preferred_username: z.optional(z.string()),
  screen_name: z.optional(z.string()),
  username: z.optional(z.string()),
  slug: z.optional(z.string()),
});

/** The provider does not accept the credentials. */
export class ProofRefused extends Error {
  override readonly name = 'ProofRefused';
}

const loginAdvice = 'does not accept the credentials. Run `echodrop login` again.';

/** Queries the provider for the user of a proof, as the service does. @throws ProofRefused that says `refusal` if it refuses the proof */
export async function identifyUser(proof: Proof, refusal = loginAdvice): Promise<User> {
  const { provider, credentials } = proof;
  const headers = { Authorization: await authorizationOf(provider, credentials) };
  const found = await fetchJson(provider, headers).catch((error: unknown) => {
    if (!(error instanceof StatusError && [401, 403].includes(error.status))) throw error;
    throw new ProofRefused(`${new URL(provider).host} ${refusal}`);
  });
  const { data } = userShape.safeParse(found);
  const subject = data?.sub ?? data?.user_id ?? data?.id_str ?? data?.id;
  if (!data || subject === undefined) throw new Error(`${provider} returned no user. Try again later.`);
  const name = data.preferred_username ?? data.screen_name ?? data.username ?? data.slug ?? String(subject);
  return { name, subject: String(subject) };
}
