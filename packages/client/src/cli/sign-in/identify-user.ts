import * as z from 'zod/mini';
import { authorizationOf, type Proof } from '../../credentials.ts';
import { parseExactJson } from '../../exact-json.ts';
import { UsageError } from '../command-context.ts';

export interface User {
  readonly name: string;
  /** The id that the provider never reassigns. */
  readonly subject: string;
}

const maxMs = 30_000;
const id = z.union([z.string(), z.number(), z.bigint()]);
// Fields of the profiles in docs/identity-providers.md.
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

/** Queries the provider for the user of a proof, as the service does. @throws UsageError if it refuses the proof */
export async function identifyUser(proof: Proof): Promise<User> {
  const { provider, credentials } = proof;
  const response = await fetch(provider, {
    headers: { Authorization: authorizationOf(provider, credentials) },
    redirect: 'error',
    signal: AbortSignal.timeout(maxMs),
  });
  if ([401, 403].includes(response.status))
    throw new UsageError(`${new URL(provider).host} does not accept the credentials. Run \`echodrop login\` again.`);
  const { data } = response.ok ? userShape.safeParse(parseExactJson(await response.text())) : { data: undefined };
  const subject = data?.sub ?? data?.user_id ?? data?.id_str ?? data?.id;
  if (!data || subject === undefined)
    throw new Error(`${provider} responds ${response.status} without a user. Try again later.`);
  const name = data.preferred_username ?? data.screen_name ?? data.username ?? data.slug ?? String(subject);
  return { name, subject: String(subject) };
}
