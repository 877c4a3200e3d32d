import { type HandedOver, type HandOver, handOver } from '@echodrop/archive/hand-over';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { type Audit, CommandFailed } from './command-context.ts';
import { describeUnreadable, describeUnreadableBlock } from './describe-unreadable.ts';

type Providers = Pick<HandOver, 'from' | 'to'>;

/**
 * Hands blocks, uploads and unfinished uploads from one address of a provider to another. A dry run only counts.
 * @throws StoreUnavailable; CommandFailed at the end if a record, state or block is unreadable, since it may be of this provider
 */
export async function* handOverAndReport(
  store: ObjectStore,
  { audit, ...provider }: HandOver & { readonly audit: Audit },
): AsyncGenerator<string> {
  const { from, to, dryRun } = provider;
  const count: Partial<Record<HandedOver['kind'], number>> = {};
  if (!dryRun) audit({ action: 'hand-over', provider: from, newProvider: to });
  for await (const handed of handOver(store, provider)) {
    count[handed.kind] = (count[handed.kind] ?? 0) + 1;
    const line = describe(handed);
    if (line !== undefined) yield line;
  }
  const { block = 0, upload = 0, unfinished = 0, earlier = 0, in_progress = 0, only_if_stopped = 0 } = count;
  const what = `${upload} uploads, ${unfinished} resumable uploads and ${block} blocks from ${from} to ${to}`;
  yield dryRun ? `Dry run: would hand over ${what}. Add --yes to hand them over.` : `Handed over ${what}.`;
  if (earlier > 0) yield `${earlier} uploads are of ${to} already.`;
  if (upload + unfinished + block + earlier + in_progress + only_if_stopped === 0)
    yield 'Compare the addresses with the providers in the output of `admin list`.';
  const { unreadable_record = 0, unreadable_state = 0, unreadable_block = 0 } = count;
  const unreadable = unreadable_record + unreadable_state + unreadable_block;
  if (unreadable > 0)
    throw new CommandFailed(`${unreadable} unreadable records, states or blocks stay. They may be of ${from}.`);
}

/**
 * Makes sure that the auth-verifier accepts users of `to` and none of `from`: their owners could remove uploads while these are rewritten.
 * @throws CommandFailed
 */
export async function requireMoved(verifier: VerificationClient, { from, to }: Providers): Promise<void> {
  const known = await verifier.knownProviders().catch((cause: unknown) => {
    throw new CommandFailed(
      'Verifier unavailable. Check VERIFIER_URL and VERIFIER_SECRET. If the whole system is stopped, add --stopped.',
      { cause },
    );
  });
  const list = `Configured providers: ${known.join(', ')}`;
  if (known.includes(from))
    throw new CommandFailed(
      `Users of ${from} can still sign in. Remove it from IDENTITY_PROVIDERS, restart the auth-verifier, and run this again. ${list}`,
    );
  if (!known.includes(to))
    throw new CommandFailed(
      `Unknown provider ${to}. Add it to IDENTITY_PROVIDERS, restart the auth-verifier, and run this again. ${list}`,
    );
}

function describe(handed: HandedOver): string | undefined {
  switch (handed.kind) {
    case 'unreadable_record':
      return `${handed.id}: ${describeUnreadable(handed.id, handed.error)}`;
    case 'unreadable_state':
      return handed.error.message;
    case 'unreadable_block':
      return `${handed.key}: ${describeUnreadableBlock(handed.error)}`;
    case 'in_progress':
      return `${handed.id}: resumable upload in progress. Run this again in a minute; if it stays, it expires.`;
    case 'only_if_stopped':
      return `${handed.id}: resumable upload stays, because the store has no conditional writes. Stop the whole system, and run this again with --stopped.`;
    default:
      return undefined;
  }
}
