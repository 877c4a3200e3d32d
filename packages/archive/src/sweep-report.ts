import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { sweepReportKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { z } from 'zod';

const schemaVersion = 1;

/** What a sweep looks for: media and renditions that no record names, and writes that never came to their end. */
export const sweptKinds = ['media', 'renditions', 'uploads'] as const;

export type SweptKind = (typeof sweptKinds)[number];

const countShape = z.object({ found: z.int(), removed: z.int(), bytes: z.int() });
const reportShape = z.object({
  version: z.literal(schemaVersion),
  completed: z.iso.datetime().transform((time) => new Date(time)),
  kinds: z.object({ media: countShape, renditions: countShape, uploads: countShape }),
  // Reports of earlier releases have none.
  listings: z.object({ missing: z.int(), added: z.int() }).default({ missing: 0, added: 0 }),
});

/** How many objects a sweep found and removed, and how many bytes the found ones have (those of uploads where the store tells). */
export type SweptCount = z.infer<typeof countShape>;

/** What a sweep that came to its end has done. */
export type SweepReport = Omit<z.infer<typeof reportShape>, 'version'>;

/** Replaces the report of the last sweep. @throws StoreUnavailable; then the earlier report may still be there */
export async function writeSweepReport(store: ObjectStore, report: SweepReport): Promise<void> {
  const text = JSON.stringify({ version: schemaVersion, ...report });
  await store.put(sweepReportKey, Readable.from([Buffer.from(text)]), { isReplacement: true });
}

/** The report of the last sweep; undefined where there was none. @throws StoreUnavailable; Error where it is of a later version, or none */
export async function readSweepReport(store: ObjectStore): Promise<SweepReport | undefined> {
  const reading = await store.read(sweepReportKey);
  if (!reading) return undefined;
  const { version: _, ...report } = reportShape.parse(JSON.parse((await buffer(reading.body)).toString()));
  return report;
}
