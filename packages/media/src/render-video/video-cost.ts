import type { VideoType } from '../detect-media-type.ts';
import { videoSize } from '../rendition-size.ts';
import type { Track } from '../video-layout/ffprobe.ts';
import { displayedSize, type LocalVideo } from '../video-layout/read-video.ts';
import { isHighDynamicRange } from '../video-layout/video-colours.ts';

/** Whether browsers may play a picture track as it is: 8 bits and 4:2:0. AVI and MPEG lack the display times that an MP4 needs. */
export function isPlayable(picture: Track, type: VideoType): boolean {
  const { codec, pixelFormat } = picture;
  const isCommon = codec === 'h264' && (pixelFormat === 'yuv420p' || pixelFormat === 'yuvj420p');
  return isCommon && !isHighDynamicRange(picture) && type !== 'avi' && type !== 'mpg';
}

/** The lowest estimate of the CPU time for a video; see videoCostSeconds. */
export function minVideoCostSeconds({ picture, type }: LocalVideo): number {
  return videoCostSeconds(picture, isPlayable(picture, type));
}

// Pixels that one core processes per second. Rough: only the order of magnitude matters.
const decodingRates: Readonly<Record<string, number>> = { h264: 500e6, hevc: 400e6, vp9: 400e6, av1: 250e6 };
const otherDecodingRate = 500e6;
const toneMappingRate = 25e6;
const encodingRate = 60e6;
const defaultFrameRate = 30;
const soundSecondsPerSecond = 1 / 60;

/**
 * Estimates the seconds of CPU time to make a video of this picture track. 0 if the file has no duration. Set a time limit
 * too, as the file may lie.
 */
export function videoCostSeconds(picture: Track, isCopied: boolean): number {
  const { codec, pixelFormat, seconds, frameRate } = picture;
  const sound = seconds * soundSecondsPerSecond;
  if (isCopied) return sound;
  const size = videoSize(displayedSize(picture));
  const pixels = picture.width * picture.height;
  const depth = isDeep(pixelFormat) ? 1.5 : 1;
  // Colours and alpha are two pictures.
  const planes = picture.hasAlpha ? 2 : 1;
  const decoding = (pixels * depth * planes) / (decodingRates[codec] ?? otherDecodingRate);
  const toneMapping = isHighDynamicRange(picture) ? pixels / toneMappingRate : 0;
  const encoding = (size.width * size.height) / encodingRate;
  return seconds * (frameRate || defaultFrameRate) * (decoding + toneMapping + encoding) + sound;
}

// More than 8 bits per sample, such as yuv420p10le.
function isDeep(pixelFormat: string): boolean {
  return /p(9|1[0-6])(le|be)$/.test(pixelFormat);
}
