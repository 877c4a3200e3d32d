import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { writeSweepReport } from '@echodrop/archive/sweep-report';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { sweepReportKey } from '@echodrop/object-store/object-keys';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { registerSweepMetrics } from './sweep-metrics.ts';

async function linesOf(metrics: Metrics): Promise<string[]> {
  return (await metrics.exposition()).text
    .split('\n')
    .filter((line) => line.startsWith('echodrop_sweep'))
    .map((line) => line.replace('service="gateway"', '').replace(/\{,|,\}/, (comma) => comma.replace(',', '')));
}

/** A slow store may miss the time limit of a scrape, which then has no series. */
async function untilSeries(metrics: Metrics, count: number): Promise<string[]> {
  let series: string[] = [];
  await waitUntil(`${count} series`, async () => {
    series = await linesOf(metrics);
    return series.length === count;
  });
  return series;
}

test('reports the last sweep, or that there was none, or nothing if the report is unreadable', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gateway-test-'));
  const store = new FilesystemObjectStore(folder.path);
  await store.ready();
  const metrics = new Metrics('gateway');
  registerSweepMetrics(metrics, store);
  expect(await untilSeries(metrics, 1)).toEqual(['echodrop_sweep_completed_timestamp_seconds{} 0']);
  const kinds = {
    media: { found: 3, removed: 2, bytes: 700 },
    renditions: { found: 0, removed: 0, bytes: 0 },
    uploads: { found: 1, removed: 1, bytes: 0 },
    resumable: { found: 0, removed: 0, bytes: 0 },
  };
  await writeSweepReport(store, {
    completed: new Date('2026-11-21T11:36:34Z'),
    kinds,
    listings: { missing: 5, added: 4 },
  });
  const lines = await untilSeries(metrics, 15);
  expect(lines).toContain('echodrop_sweep_completed_timestamp_seconds{} 1795260994');
  expect(lines).toContain('echodrop_sweep_found_objects{kind="media"} 3');
  expect(lines).toContain('echodrop_sweep_removed_objects{kind="media"} 2');
  expect(lines).toContain('echodrop_sweep_found_bytes{kind="media"} 700');
  expect(lines).toContain('echodrop_sweep_found_objects{kind="uploads"} 1');
  expect(lines).toContain('echodrop_sweep_listing_failures{} 5');
  expect(lines).toContain('echodrop_sweep_listing_repairs{} 4');
  await store.put(sweepReportKey, Readable.from([Buffer.from('no report')]));
  await untilSeries(metrics, 0);
});
