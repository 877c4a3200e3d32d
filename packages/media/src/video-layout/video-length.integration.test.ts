import { patientSignal } from '@echodrop/testkit/patience';
import { sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { expect, test } from 'vitest';
import { mediaFile } from '../media-file.fixture.ts';
import { videoTracks } from './ffprobe.ts';

test.each(['mp4', 'mkv', 'webm', 'avi'] as const)('the pictures of a %s have a rate and a duration', async (type) => {
  await using file = await mediaFile(await sampleVideo(type, { width: 64, height: 48, seconds: 2 }));
  const tracks = await videoTracks(file.path, type, patientSignal());
  const picture = typeof tracks === 'string' ? expect.fail(tracks) : tracks.find(({ kind }) => kind === 'video');
  expect(Math.abs((picture?.seconds ?? 0) - 2)).toBeLessThan(0.2);
  expect(Math.round((picture?.frameRate ?? 0) * (picture?.seconds ?? 0))).toBeGreaterThan(10);
});
