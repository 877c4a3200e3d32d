import { CountedSource } from '@echodrop/testkit/counted-source';
import { fuzz } from '@echodrop/testkit/fuzz/fuzz';
import { expect } from 'vitest';
import { isPhoto, mediaTypes } from './detect-media-type.ts';
import { bytesOf, mutated, photoSamples } from './mutated-media.fixture.ts';
import { unsupportedReasons } from './outcomes.ts';
import { probed } from './probed.fixture.ts';

const MiB = 2 ** 20;
// Videos have a fuzzer of their own, because each starts ffprobe.
const typesOff = new Set(mediaTypes.filter((type) => !isPhoto(type)));

fuzz('a mutated photo has a size or a reason, after few reads', mutated(photoSamples), async (mutated) => {
  const source = new CountedSource(await bytesOf(photoSamples, mutated));
  const probe = await probed(source, { typesOff });
  expect(source.bytesRead).toBeLessThan(64 * MiB);
  expect(source.reads).toBeLessThan(1000);
  if (probe.outcome === 'unsupported') return expect(unsupportedReasons).toContain(probe.why);
  expect(isPhoto(probe.type)).toBe(true);
  expect(probe.width * probe.height).toBeLessThanOrEqual(1e8);
  expect([probe.width, probe.height].every((side) => Number.isSafeInteger(side) && side > 0)).toBe(true);
});
