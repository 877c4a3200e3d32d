import { expect, test } from 'vitest';
import { sampleTrack } from '../rendered.fixture.ts';
import type { Track } from '../video-layout/ffprobe.ts';
import { videoCostSeconds } from './video-cost.ts';

const phone: Track = { ...sampleTrack, codec: 'hevc', width: 1920, height: 1080, frameRate: 30, seconds: 20 };
const cost = (differences: Partial<Track>) => videoCostSeconds({ ...phone, ...differences }, false);

test('estimates less than a minute for a short phone video, and more for hours', () => {
  expect(cost({})).toBeLessThan(60);
  expect(cost({ seconds: 2 * 60 * 60, width: 640, height: 360, pixelFormat: 'yuv420p10le' })).toBeGreaterThan(600);
});

test.each<[string, Partial<Track>]>([
  ['plays longer', { seconds: 21 }],
  ['has more frames', { frameRate: 60 }],
  ['has larger frames', { width: 3840, height: 2160 }],
  ['has samples of ten bits', { pixelFormat: 'yuv420p10le' }],
  ['has a codec that costs more', { codec: 'av1' }],
  ['has a high dynamic range', { transfer: 'smpte2084' }],
])('a video that %s costs more', (_, differences) => {
  expect(cost(differences)).toBeGreaterThan(cost({}));
});

test('estimates little for a copied video of any size', () => {
  expect(videoCostSeconds({ ...phone, codec: 'h264', width: 3840, height: 2160, seconds: 600 }, true)).toBeLessThan(20);
});

test('uses the default frame rate if unknown', () => {
  expect(cost({ frameRate: 0 })).toBe(cost({}));
});

test('estimates 0 without a duration', () => {
  expect(cost({ seconds: 0 })).toBe(0);
});
