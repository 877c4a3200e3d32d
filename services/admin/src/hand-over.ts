import { type HandOver, handOver } from '@echodrop/archive/hand-over';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { type Audit, CommandFailed } from './command-context.ts';

/**
 * Hands blocks, uploads and unfinished uploads from one address of a provider to another. A dry run only counts.
 * @throws StoreUnavailable; CommandFailed at the end if a record, state or block is unreadable, since it may be of this provider
 */
export async function* handOverAndReport(
  store: ObjectStore,
  { audit, ...provider }: HandOver & { readonly audit: Audit },
): AsyncGenerator<string> {
  const { from, to, dryRun } = provider;
  const count = { block: 0, upload: 0, unfinished: 0, earlier: 0, skipped: 0, unreadable: 0 };
  if (!dryRun) audit({ action: 'hand-over', provider: from, newProvider: to });
  for await (const handed of handOver(store, provider)) {
    count[handed.kind] += 1;
    if (handed.problem !== undefined) yield handed.problem;
  }
  const { block, upload, unfinished, earlier, skipped, unreadable } = count;
  const what = `${upload} uploads, ${unfinished} resumable uploads and ${block} blocks from ${from} to ${to}`;
  yield dryRun ? `Dry run: would hand over ${what}. Add --yes to hand them over.` : `Handed over ${what}.`;
  if (earlier > 0) yield `${earlier} uploads are of ${to} already.`;
  if (upload + unfinished + block + earlier + skipped === 0)
    yield 'Compare the addresses with the providers in the output of `admin list`.';
  if (unreadable > 0)
    throw new CommandFailed(`${unreadable} unreadable records, states or blocks stay. They may be of ${from}.`);
}

/**
 * Makes sure that the auth-verifier accepts users of `to` and none of `from`: their owners could remove uploads while these are rewritten.
 * @throws CommandFailed
 */
export function requireMoved(known: readonly string[], { from, to }: Pick<HandOver, 'from' | 'to'>): void {
  const then = 'IDENTITY_PROVIDERS, restart the auth-verifier, and run this again.';
  const list = `Configured providers: ${known.join(', ')}`;
  if (known.includes(from))
    throw new CommandFailed(`Users of ${from} can still sign in. Remove it from ${then} ${list}`);
  if (!known.includes(to)) throw new CommandFailed(`Unknown provider ${to}. Add it to ${then} ${list}`);
}
