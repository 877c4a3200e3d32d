import { sweep } from '@echodrop/archive/sweep';
import { readSweepReport, type SweepReport, sweptKinds, writeSweepReport } from '@echodrop/archive/sweep-report';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { CommandFailed } from './command-context.ts';

interface Options {
  readonly olderThanHours: number;
  /** Removes nothing, and writes no report. */
  readonly dryRun: boolean;
  /** Sweeps even if most media has no record. */
  readonly force: boolean;
  /** Reads all records, even if the last report says that this is not necessary. */
  readonly full: boolean;
  readonly signal: AbortSignal;
}

const hourMs = 3_600_000;

/**
 * Sweeps once. Writes no report if the sweep was incomplete. Also one that fails says what it has changed.
 * @throws StoreUnavailable, RecordsMissing, or that it was interrupted; at the end RecordsUnreadable, CommandFailed if a removal failed, or an
 * Error if the report could not be written
 */
export async function* sweepOnce(
  store: ObjectStore,
  { olderThanHours, full, signal, ...options }: Options,
): AsyncGenerator<string> {
  const { dryRun } = options;
  const explain = (error: unknown) => {
    const deleted = dryRun ? '' : 'What was deleted stays deleted. ';
    return signal.aborted ? new Error(`Interrupted. ${deleted}Repeat the command: it starts over.`) : error;
  };
  // This creates the bucket of a new system.
  await store.ready();
  // Without a readable report, the sweep reads all records.
  const last = full ? undefined : await readSweepReport(store).catch(() => undefined);
  const sweeping = sweep(store, { olderThanMs: olderThanHours * hourMs, last, ...options });
  const { report, failure, incomplete } = await sweeping.catch((error: unknown) => {
    throw explain(error);
  });
  // This is printed before the report is written: the store may refuse the report although it has deleted.
  yield* describeReport(report, dryRun, incomplete === undefined);
  if (incomplete) throw explain(incomplete);
  yield dryRun
    ? 'Dry run: nothing changed. Add --yes to apply the changes.'
    : `Swept at ${report.completed.toISOString()}.`;
  const unwritten = dryRun ? undefined : await writeSweepReport(store, report).catch((error: Error) => error);
  if (failure !== undefined) throw new CommandFailed(`Failed to delete some objects: ${failure}`);
  if (unwritten) throw new Error(`The report of this sweep could not be written: ${unwritten.message}`);
}

const names = {
  media: 'orphaned media',
  renditions: 'orphaned renditions',
  uploads: 'incomplete multipart uploads',
  resumable: 'expired resumable uploads',
};

function describeReport({ kinds, listings }: SweepReport, dryRun: boolean, isComplete: boolean): string[] {
  const lines = sweptKinds.map((kind) => {
    const { found, removed, bytes } = kinds[kind];
    if (!isComplete && found === 0 && (kind === 'media' || kind === 'renditions'))
      return `${names[kind]}: not searched`;
    return `${names[kind]}: ${found} found,${dryRun ? '' : ` ${removed} deleted,`} ${bytes} bytes`;
  });
  return [
    ...lines,
    `uploads missing from the listings: ${listings.missing} found${dryRun ? '' : `, ${listings.added} added`}`,
  ];
}
