import { type Finding, ok, warn, wrong } from '../finding.ts';
import type { Attempt, Queries } from './provider-queries.ts';
import { kindOf } from './response-kind.ts';

/**
 * Whether the provider serves the advertised Host, judged by `attempts` without credentials or with made-up ones: the right Host gets a
 * refusal. Without one, queries the provider once more by its own Host.
 */
export async function hostFinding(attempts: readonly Attempt[], queries: Queries): Promise<Finding> {
  const { advertised, upstream } = queries.provider;
  const host = new URL(advertised).host;
  const own = new URL(upstream).host;
  if (upstream === advertised)
    return ok('Host header: nothing to check, because the provider is queried at its public address.');
  const accepted = ok(`It serves the advertised Host, ${host}.`);
  const refusal = attempts.find(isRefusal);
  // A server that does not know a Host may respond 403 with a page; a credential check responds 401.
  if (refusal && (host === own || refusal.response?.status === 401)) return accepted;
  if (refusal) {
    const byOwnHost = await queries.sendByOwnHost();
    if (!isRefusal(byOwnHost) || byOwnHost.response?.status === refusal.response?.status) return accepted;
    return warn(
      `It may not serve the advertised Host: ${host} ${summary(refusal)}, its own host ${own} ${summary(byOwnHost)}.`,
    );
  }
  if (host !== own && isRefusal(await queries.sendByOwnHost()))
    return wrong(
      `It does not serve the advertised Host: ${host} ${summary(attempts[0])}, its own host ${own} returns a refusal.`,
    );
  return warn(`Cannot check the advertised Host ${host}: the provider refuses no request, whatever its Host header.`);
}

function isRefusal({ response }: Attempt): boolean {
  return response !== undefined && kindOf(response) === 'refusal';
}

function summary(attempt: Attempt | undefined): string {
  return attempt?.response ? `returns ${attempt.response.status}` : 'does not respond';
}
