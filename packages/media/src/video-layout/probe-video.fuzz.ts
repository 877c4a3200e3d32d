import { mkdtempDisposable, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CountedSource } from '@echodrop/testkit/counted-source';
import { fuzz } from '@echodrop/testkit/fuzz/fuzz';
import { patientSignal } from '@echodrop/testkit/patience';
import { expect } from 'vitest';
import { isPhoto } from '../detect-media-type.ts';
import { bytesOf, mutated, videoSamples } from '../mutated-media.fixture.ts';
import { unsupportedReasons } from '../outcomes.ts';
import { probed } from '../probed.fixture.ts';
import { cpuSeconds } from '../sandbox/cpu-seconds.fixture.ts';
import { displayedSize, readVideo } from './read-video.ts';

const MiB = 2 ** 20;

fuzz(
  'a mutated video has the size that ffprobe finds in all of it, or a reason',
  mutated(videoSamples),
  async (mutated) => {
    const bytes = await bytesOf(videoSamples, mutated);
    await using scratch = await mkdtempDisposable(join(tmpdir(), 'probe-video-'));
    const source = new CountedSource(bytes);
    const before = cpuSeconds();
    const probe = await probed(source, { scratchDir: scratch.path });
    expect(cpuSeconds() - before).toBeLessThan(5);
    expect(source.bytesRead).toBeLessThan(8 * MiB);
    expect(await readdir(scratch.path)).toEqual([]);
    if (probe.outcome === 'unsupported') return expect(unsupportedReasons).toContain(probe.why);
    expect(probe.width * probe.height).toBeLessThanOrEqual(1e8);
    if (isPhoto(probe.type)) return;
    const path = join(scratch.path, 'whole');
    await writeFile(path, bytes);
    const video = await readVideo(path, probe.type, patientSignal());
    expect(typeof video === 'string' ? video : displayedSize(video.picture)).toEqual({
      width: probe.width,
      height: probe.height,
    });
  },
);
