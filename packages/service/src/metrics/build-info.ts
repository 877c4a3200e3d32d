import { readFileSync } from 'node:fs';
import type { Metrics } from './metrics.ts';

/** Registers the metric with the release's version and `revision`. */
export function registerBuildMetrics(metrics: Metrics, revision: string): void {
  const { version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
  const info = metrics.gauge('echodrop_build_info', 'Always 1; labels carry version and revision.', [
    'version',
    'revision',
  ]);
  info.set({ version, revision }, 1);
}
