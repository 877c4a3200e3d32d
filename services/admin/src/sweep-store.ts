import { setTimeout as sleep } from 'node:timers/promises';
import { RecordsMissing } from '@echodrop/archive/records-missing';
import { SweepStopped, sweep } from '@echodrop/archive/sweep-orphans';
import { readSweepReport, type SweepReport, sweptKinds, writeSweepReport } from '@echodrop/archive/sweep-report';
import type { ObjectStore } from '@echodrop/object-store/object-store';

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
const retryMs = 600_000;

/**
 * Sweeps once. Writes no report if the sweep was incomplete. Also one that fails says what it has changed.
 * @throws StoreUnavailable, RecordsMissing (a dry run: at the end), or the signal's reason; RecordsUnreadable, RemovalFailed or ReportNotWritten at the end
 */
export async function* sweepOnce(
  store: ObjectStore,
  { olderThanHours, full, ...options }: Options,
): AsyncGenerator<string> {
  // Creates the bucket of a new system.
  await store.ready();
  // Without a readable report, the sweep reads all records.
  const last = full ? undefined : await readSweepReport(store).catch(() => undefined);
  const swept = sweep(store, { olderThanMs: olderThanHours * hourMs, last, ...options });
  const { report, failure, incomplete } = await swept.catch((error) => {
    if (!(error instanceof SweepStopped)) throw options.signal.aborted ? new Interrupted(options.dryRun) : error;
    return { report: error.report, failure: undefined, incomplete: error.cause };
  });
  // Printed before: the store may refuse the report although it has deleted.
  yield* describeReport(report, options.dryRun, incomplete === undefined || incomplete instanceof RecordsMissing);
  if (incomplete) throw options.signal.aborted ? new Interrupted(options.dryRun) : incomplete;
  yield options.dryRun
    ? 'Dry run: nothing changed. Add --yes to apply the changes.'
    : `Swept at ${report.completed.toISOString()}.`;
  const unwritten = options.dryRun ? undefined : await writeSweepReport(store, report).catch((error: Error) => error);
  if (failure !== undefined) throw new RemovalFailed(`Failed to delete some objects: ${failure}`);
  if (unwritten) throw new ReportNotWritten(`The report of this sweep could not be written: ${unwritten.message}`);
}

class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor(dryRun: boolean) {
    super(`Interrupted. ${dryRun ? '' : 'What was deleted stays deleted. '}Repeat the command: it starts over.`);
  }
}

class RemovalFailed extends Error {
  override readonly name = 'RemovalFailed';
}

class ReportNotWritten extends Error {
  override readonly name = 'ReportNotWritten';
}

interface Period {
  readonly everyHours: number;
  readonly logFailure: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** Calls `sweepNow` every `everyHours` until the signal aborts. Passes the error of a failed sweep to `logFailure`, and retries it in ten minutes. */
export async function* sweepPeriodically(
  sweepNow: () => AsyncIterable<string>,
  { everyHours, logFailure, signal }: Period,
): AsyncGenerator<string> {
  while (!signal.aborted) {
    let pauseMs = everyHours * hourMs;
    try {
      yield* sweepNow();
    } catch (error) {
      if (signal.aborted) return;
      logFailure(error);
      if (!(error instanceof RemovalFailed)) pauseMs = Math.min(pauseMs, retryMs);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

function describeReport({ kinds, listings }: SweepReport, dryRun: boolean, isComplete: boolean): string[] {
  const names = {
    media: 'orphaned media',
    renditions: 'orphaned renditions',
    uploads: 'incomplete multipart uploads',
    resumable: 'expired resumable uploads',
  };
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
