import { readSweepReport, sweptKinds } from '@echodrop/archive/sweep-report';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Metrics } from '@echodrop/service/metrics';

const helps = {
  echodrop_sweep_found_objects: 'What the last sweep found: media and renditions without a record, unfinished uploads.',
  echodrop_sweep_removed_objects: 'How much of it the last sweep removed.',
  echodrop_sweep_found_bytes: 'Bytes of what the last sweep found; of unfinished uploads where the store tells.',
};

const unlabelledHelps = {
  echodrop_sweep_completed_timestamp_seconds: 'When the last sweep ended; 0: there was none.',
  echodrop_sweep_unlisted_uploads: 'Published uploads without list entries that the last sweep found.',
  echodrop_sweep_relisted_uploads: 'How many of them the last sweep listed.',
};

/** Tells in the metrics what the last sweep has reported in the store. Where it cannot be read nothing is told. */
export function tellSweeps(metrics: Metrics, store: ObjectStore): void {
  const unlabelled = new Map<string, ReturnType<Metrics['gauge']>>();
  const set = (name: keyof typeof unlabelledHelps, value: number) => {
    const gauge = unlabelled.get(name) ?? metrics.gauge(name, unlabelledHelps[name]);
    unlabelled.set(name, gauge);
    gauge.set(value);
  };
  metrics.asked(helps, 'kind', async () => {
    for (const gauge of unlabelled.values()) gauge.remove();
    const report = await readSweepReport(store);
    set('echodrop_sweep_completed_timestamp_seconds', (report?.completed.getTime() ?? 0) / 1000);
    if (!report) return [];
    set('echodrop_sweep_unlisted_uploads', report.listings.missing);
    set('echodrop_sweep_relisted_uploads', report.listings.added);
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
