import { isoBox } from '@echodrop/testkit/samples/sample-iso';
import { expect, test } from 'vitest';
import { isoTracks } from './iso-tracks.ts';

test('spends little time on millions of boxes', () => {
  const free = Buffer.alloc(60 * 2 ** 20, isoBox('free'));
  const nested = isoBox('trak', isoBox('mdia', isoBox('minf', isoBox('stbl', free.subarray(0, 2 ** 19)))));
  const before = process.cpuUsage();
  for (const moov of [free, isoBox('trak', free), Buffer.concat(Array.from({ length: 100 }, () => nested))])
    expect(isoTracks(moov).length).toBeLessThanOrEqual(64);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});
