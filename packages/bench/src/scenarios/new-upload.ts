import { readFile } from 'node:fs/promises';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { readRepeatedly } from '../read-load.ts';
import type { ReadStore } from '../read-stores.ts';
import type { Bench } from '../scenario.ts';
import { pictureJobsOf, storeCallsOf } from '../service-metrics.ts';
import type { System } from '../systems.ts';

const readers = 1000;

/** Counts what 1,000 readers of one new upload cost, who request its picture at once, before any rendition exists. */
export async function measureNewUpload({ figures, samples }: Bench, system: System, stored: ReadStore): Promise<void> {
  const { path, width, height } = samples['200 KB'];
  await using store = stored.open(system);
  const { id } = await publishSample(store, { type: 'jpg', width, height }, await readFile(path));
  const counts = async () => [await pictureJobsOf(system), await storeCallsOf(system, 'site', 'read')] as const;
  const before = await counts();
  const url = `http://127.0.0.1:${system.sitePort}/${id}/large.jpg`;
  const wrong = await readRepeatedly({ url, requests: readers, connections: readers, isPatient: true });
  const after = await counts();
  const labels = { system: system.name, variant: stored.kind, unit: '' };
  if (wrong > 0) figures.fault('new upload', [`${wrong} of ${readers} readers got no picture`]);
  figures.add('rendition jobs for 1,000 readers of a new upload', labels, after[0] - before[0]);
  // The record and the picture.
  figures.add('store reads for 1,000 readers of a new upload', labels, after[1] - before[1]);
}
