import { setTimeout as sleep } from 'node:timers/promises';
import { sweep } from '@echodrop/archive/sweep';
import { type SweepReport, sweptKinds, writeSweepReport } from '@echodrop/archive/sweep-report';
import type { ObjectStore } from '@echodrop/object-store/object-store';

interface Sweeping {
  readonly olderThanHours: number;
  /** A dry run removes nothing, and writes no report. */
  readonly dryRun: boolean;
  /** Whether a sweep goes on if most media has no record. */
  readonly force: boolean;
  readonly signal: AbortSignal;
}

const hourMs = 3_600_000;
// A store that is down is not left unswept for a day.
const retryMs = 600_000;

/**
 * Sweeps once, and gives lines for people.
 * @throws RecordsUnreadable, RecordsMissing (of a dry run after the last line), StoreUnavailable, NotAllRemoved after the last line, or the
 * signal's reason
 */
export async function* sweepOnce(
  store: ObjectStore,
  { olderThanHours, ...sweeping }: Sweeping,
): AsyncGenerator<string> {
  // Makes the bucket of a new system, which nobody may have needed yet.
  await store.ready();
  const { report, failure, recordsMissing } = await sweep(store, { olderThanMs: olderThanHours * hourMs, ...sweeping });
  if (!sweeping.dryRun) await writeSweepReport(store, report);
  yield* told(report, sweeping.dryRun);
  if (recordsMissing) throw recordsMissing;
  if (sweeping.dryRun) yield 'Nothing was removed; --yes removes them.';
  if (failure !== undefined) throw new NotAllRemoved(`some of it could not be removed: ${failure}`);
}

/** What was found is still there in part. */
class NotAllRemoved extends Error {
  override readonly name = 'NotAllRemoved';
}

/** Sweeps every `everyHours` until the signal aborts. `failed` gets the error of each failed sweep, and a retry follows soon. */
export async function* sweepForEver(
  store: ObjectStore,
  { everyHours, failed, ...sweeping }: Sweeping & { everyHours: number; failed: (error: unknown) => void },
): AsyncGenerator<string> {
  const { signal } = sweeping;
  while (!signal.aborted) {
    let pauseMs = everyHours * hourMs;
    try {
      yield* sweepOnce(store, sweeping);
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
      if (!(error instanceof NotAllRemoved)) pauseMs = Math.min(pauseMs, retryMs);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}

function told({ completed, kinds, listings }: SweepReport, dryRun: boolean): string[] {
  const names = { media: 'media', renditions: 'renditions', uploads: 'unfinished uploads' };
  const lines = sweptKinds.map((kind) => {
    const { found, removed, bytes } = kinds[kind];
    const ends = dryRun ? '' : removed === found ? ' removed' : `, ${removed} of them removed`;
    return `${names[kind]}: ${found}${ends}, ${bytes} bytes`;
  });
  lines.push(`uploads in no list: ${listings.missing}${dryRun ? '' : `, ${listings.added} of them listed`}`);
  return dryRun ? lines : [...lines, `Swept at ${completed.toISOString()}.`];
}
