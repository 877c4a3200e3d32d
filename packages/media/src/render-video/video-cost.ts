import { videoSize } from '../rendition-size.ts';
import type { Track } from '../video-layout/ffprobe.ts';
import { sizeOnScreen } from '../video-layout/probe-video.ts';
import { toSdr } from './tone-mapping.ts';

// Pixels that one core decodes, tone-maps and encodes in a second. Rough: it is the order of magnitude that decides.
const decoded: Readonly<Record<string, number>> = { h264: 500e6, hevc: 400e6, vp9: 400e6, av1: 250e6 };
const decodedOfOthers = 500e6;
const toneMapped = 25e6;
const encoded = 60e6;
const usualFrameRate = 30;
const soundSecondsPerSecond = 1 / 60;

/**
 * Roughly how many seconds of processor time it takes to make a video of this picture track. 0 if the file does not say how long it plays, and
 * no truth where it lies: whoever relies on it needs a time limit too.
 */
export function videoCostSeconds(picture: Track, isCopied: boolean): number {
  const { codec, pixelFormat, seconds, frameRate } = picture;
  const sound = seconds * soundSecondsPerSecond;
  if (isCopied) return sound;
  const size = videoSize(sizeOnScreen(picture));
  const pixels = picture.width * picture.height;
  const depth = isDeep(pixelFormat) ? 1.5 : 1;
  const decoding = (pixels * depth) / (decoded[codec] ?? decodedOfOthers);
  const toneMapping = toSdr(picture).length > 0 ? pixels / toneMapped : 0;
  const encoding = (size.width * size.height) / encoded;
  return seconds * (frameRate || usualFrameRate) * (decoding + toneMapping + encoding) + sound;
}

// yuv420p10le and its like: more than 8 bits a sample.
function isDeep(pixelFormat: string): boolean {
  return /p(9|1[0-6])(le|be)$/.test(pixelFormat);
}
