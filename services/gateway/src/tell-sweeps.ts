import { readSweepReport, sweptKinds } from '@echodrop/archive/sweep-report';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Metrics } from '@echodrop/service/metrics';

const helps = {
  echodrop_sweep_found_objects: 'What the last sweep found: media and renditions without a record, unfinished uploads.',
  echodrop_sweep_removed_objects: 'How much of it the last sweep removed.',
  echodrop_sweep_found_bytes: 'Bytes of what the last sweep found; of unfinished uploads where the store tells.',
};

/** Tells in the metrics what the last sweep has reported in the store. Where it cannot be read nothing is told. */
export function tellSweeps(metrics: Metrics, store: ObjectStore): void {
  let completed: ReturnType<Metrics['gauge']> | undefined;
  metrics.asked(helps, 'kind', async () => {
    completed?.remove();
    const report = await readSweepReport(store);
    completed ??= metrics.gauge(
      'echodrop_sweep_completed_timestamp_seconds',
      'When the last sweep ended; 0: there was none.',
      [],
    );
    completed.set((report?.completed.getTime() ?? 0) / 1000);
    if (!report) return [];
    return sweptKinds.map((kind) => {
      const { found, removed, bytes } = report.kinds[kind];
      const values = {
        echodrop_sweep_found_objects: found,
        echodrop_sweep_removed_objects: removed,
        echodrop_sweep_found_bytes: bytes,
      };
      return { of: kind, values };
    });
  });
}
