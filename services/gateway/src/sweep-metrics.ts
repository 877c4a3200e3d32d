import { readSweepReport, sweptKinds } from '@echodrop/archive/sweep-report';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Metrics } from '@echodrop/service/metrics/metrics';

const helps = {
  echodrop_sweep_found_objects:
    'Objects found by the last sweep, by kind: media and renditions (orphans), uploads (incomplete multipart uploads), resumable (expired resumable uploads).',
  echodrop_sweep_removed_objects: 'Objects deleted by the last sweep.',
  echodrop_sweep_found_bytes:
    'Bytes found by the last sweep; incomplete multipart uploads are included only if the object store reports their size.',
};

/** Metrics of the last sweep, from its report in the store. They have no series if the report cannot be read. */
export function registerSweepMetrics(metrics: Metrics, store: ObjectStore): void {
  const completed = metrics.gauge(
    'echodrop_sweep_completed_timestamp_seconds',
    'Unix time at which the last sweep completed; 0 if none has.',
  );
  const listingFailures = metrics.gauge(
    'echodrop_sweep_listing_failures',
    'Published uploads that the last sweep found missing from the listings.',
  );
  const listingRepairs = metrics.gauge(
    'echodrop_sweep_listing_repairs',
    'Published uploads that the last sweep added to the listings.',
  );
  metrics.gaugesOnScrape(helps, 'kind', async () => {
    for (const gauge of [completed, listingFailures, listingRepairs]) gauge.remove();
    const report = await readSweepReport(store);
    completed.set((report?.completed.getTime() ?? 0) / 1000);
    if (!report) return [];
    listingFailures.set(report.listings.missing);
    listingRepairs.set(report.listings.added);
    return sweptKinds.map((kind) => {
      const { found, removed, bytes } = report.kinds[kind];
      const values = {
        echodrop_sweep_found_objects: found,
        echodrop_sweep_removed_objects: removed,
        echodrop_sweep_found_bytes: bytes,
      };
      return { label: kind, values };
    });
  });
}
