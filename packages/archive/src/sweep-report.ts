import { Readable } from 'node:stream';
import { sweepReportKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { readSmallObject } from '@echodrop/object-store/read-small-object';
import { z } from 'zod';
import { storedTime } from './stored-time.ts';

const schemaVersion = 1;
const maxReportBytes = 64 * 1024;

/** What a sweep removes: media and renditions without a record, unfinished writes, and expired resumable uploads. */
export const sweptKinds = ['media', 'renditions', 'uploads', 'resumable'] as const;

export type SweptKind = (typeof sweptKinds)[number];

const count = z.int().nonnegative();
const countShape = z.object({ found: count, removed: count, bytes: count });
const reportShape = z.object({
  version: z.literal(schemaVersion),
  completed: storedTime,
  kinds: z.object({
    media: countShape,
    renditions: countShape,
    uploads: countShape,
    // Reports of earlier releases have no such count.
    resumable: countShape.default(emptyCount()),
  }),
  // Reports of earlier releases have no listings.
  listings: z.object({ missing: count, added: count }).default({ missing: 0, added: 0 }),
  /** Sweeps have judged all media that was written before `before`, and last read all records at `read`. Reports of earlier releases lack it. */
  judged: z.object({ before: storedTime, read: storedTime }).optional(),
});

/** Objects found and removed, and bytes of the found ones (of unfinished writes only if the store reports them). */
export type SweptCount = z.infer<typeof countShape>;

/** The report of a completed sweep. */
export type SweepReport = Omit<z.infer<typeof reportShape>, 'version'>;

/** What sweeps have judged. */
export type Judged = NonNullable<SweepReport['judged']>;

// A sweep reads all records after this time. It finds what changed without a trace in the store's times, such as a damaged record.
const maxUnreadMs = 7 * 24 * 3_600_000;

/** Whether a sweep has read all records within a week. A report from the future proves nothing. */
export function isRecent({ before, read }: Judged, now: number): boolean {
  return before.getTime() <= now && read.getTime() <= now && read.getTime() > now - maxUnreadMs;
}

export function emptyCount(): SweptCount {
  return { found: 0, removed: 0, bytes: 0 };
}

/** Replaces the last report. @throws StoreUnavailable; the earlier report may then still exist */
export async function writeSweepReport(store: ObjectStore, report: SweepReport): Promise<void> {
  const text = JSON.stringify({ version: schemaVersion, ...report });
  await store.put(sweepReportKey, Readable.from([Buffer.from(text)]), { isReplacement: true });
}

/** Reads the last report, if any. @throws StoreUnavailable; Error if it is not a report of this version */
export async function readSweepReport(store: ObjectStore): Promise<SweepReport | undefined> {
  const bytes = await readSmallObject(store, sweepReportKey, maxReportBytes);
  if (!bytes) return undefined;
  const { version: _, ...report } = reportShape.parse(JSON.parse(bytes.toString()));
  return report;
}
