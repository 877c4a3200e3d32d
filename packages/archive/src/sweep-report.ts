import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { sweepReportKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { z } from 'zod';

const schemaVersion = 1;

/** What a sweep removes: media and renditions without a record, unfinished writes, and expired resumable uploads. */
export const sweptKinds = ['media', 'renditions', 'uploads', 'resumable'] as const;

export type SweptKind = (typeof sweptKinds)[number];

const countShape = z.object({ found: z.int(), removed: z.int(), bytes: z.int() });
const reportShape = z.object({
  version: z.literal(schemaVersion),
  completed: z.iso.datetime().transform((time) => new Date(time)),
  kinds: z.object({
    ...{ media: countShape, renditions: countShape, uploads: countShape },
    // Earlier releases had none.
    resumable: countShape.default({ found: 0, removed: 0, bytes: 0 }),
  }),
  // Earlier releases wrote none.
  listings: z.object({ missing: z.int(), added: z.int() }).default({ missing: 0, added: 0 }),
});

/** Objects found and removed, and bytes of the found ones (of unfinished writes only if the store reports them). */
export type SweptCount = z.infer<typeof countShape>;

/** The report of a completed sweep. */
export type SweepReport = Omit<z.infer<typeof reportShape>, 'version'>;

/** Replaces the last report. @throws StoreUnavailable; the earlier report may then still exist */
export async function writeSweepReport(store: ObjectStore, report: SweepReport): Promise<void> {
  const text = JSON.stringify({ version: schemaVersion, ...report });
  await store.put(sweepReportKey, Readable.from([Buffer.from(text)]), { isReplacement: true });
}

/** Reads the last report, if any. @throws StoreUnavailable; Error for an unknown version */
export async function readSweepReport(store: ObjectStore): Promise<SweepReport | undefined> {
  const reading = await store.read(sweepReportKey);
  if (!reading) return undefined;
  const { version: _, ...report } = reportShape.parse(JSON.parse((await buffer(reading.body)).toString()));
  return report;
}
