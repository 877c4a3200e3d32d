import type { VideoType } from '../media-type.ts';
import type { Rendered } from '../outcomes.ts';
import { videoSize } from '../rendition-size.ts';
import { type FfmpegLimits, runFfmpeg } from '../sandbox/ffmpeg.ts';
import { maxOutputBytes } from '../sandbox/tool-output.ts';
import { withDeadline } from '../sandbox/with-deadline.ts';
import { type LocalVideo, type Track, videoTracks } from '../video-layout/ffprobe.ts';
import { deinterlaceFilters, hasInterlacedFrames } from '../video-layout/interlaced.ts';
import { displayedSize, pictureTrack } from '../video-layout/probe-video.ts';
import { videoGuards } from '../video-layout/video-codecs.ts';
import { hasHiddenPictures, hasPictures } from '../video-layout/video-edits.ts';
import { toneMappingFilters } from './tone-mapping.ts';
import { videoCostSeconds } from './video-cost.ts';

const GiB = 1024 ** 3;
const maxSeconds = 45 * 60;
const limits: Omit<FfmpegLimits, 'maxPixels' | 'seconds'> = {
  cpuSeconds: 40 * 60,
  addressBytes: 4 * GiB,
  fileBytes: maxOutputBytes.video,
};

// Keeps slices and parameter sets only (ITU-T H.264 table 7-1): SEI may carry positions and other notes of a camera or
// encoder, and an MP4 needs no delimiters. h264_metadata then rewrites the rest, which drops bytes after the parameters.
const withoutSei = ['-bsf:v', 'filter_units=pass_types=1|5|7|8|13,h264_metadata'];

const withoutMetadata = [
  ...['-map_metadata', '-1', '-map_metadata:s', '-1', '-map_chapters', '-1'],
  ...['-fflags', '+bitexact', '-flags', '+bitexact'],
];

/**
 * Makes an MP4 for browsers that plays while it loads, without metadata. The default picture track is copied if it is H.264
 * that browsers play and no edit hides a part of it, else transcoded (H.264, at most 1080p, deinterlaced). The default sound
 * is always transcoded (AAC, stereo).
 *
 * The result is `timed_out` after `seconds` for all attempts together, and `too_costly` if one attempt takes more than 40
 * minutes of CPU time, or if the estimate exceeds `estimatedSeconds` of it.
 * @throws ToolFailed if ffmpeg is missing or killed; OutputRefused if it left something other than an MP4; the reason of `signal`
 */
export async function renderVideo(
  video: LocalVideo,
  outputPath: string,
  { maxPixels, signal, seconds = maxSeconds, estimatedSeconds = Number.POSITIVE_INFINITY, niceness }: VideoOptions,
): Promise<Rendered> {
  const { path, type, tracks = await videoTracks(path, type, signal) } = video;
  if (typeof tracks === 'string') return { outcome: 'unsupported', why: tracks };
  const picture = pictureTrack(tracks);
  if (typeof picture === 'string') return { outcome: 'unsupported', why: picture };
  const input = ['-threads', '4', ...videoGuards(type), '-i', `file:${path}`];
  const end = await withDeadline(seconds, signal, async (signal) => {
    const isCopied =
      isPlayable(picture, type) &&
      !(await hasHiddenPictures({ path, type, track: picture })) &&
      !(await hasInterlacedFrames({ path, type, track: picture }, { maxPixels, signal }));
    if (videoCostSeconds(picture, isCopied) > estimatedSeconds) return 'too_costly';
    // Whether a track fits into an MP4, and whether sound can be decoded, only shows when tried.
    for (const { coding, sound } of attempts(picture, soundTrack(tracks), isCopied)) {
      const output = [...mapTracks(picture, sound), ...coding, ...soundCoding(sound), ...withoutMetadata];
      const args = { input, output: [...output, ...mp4Output(outputPath)] };
      const end = await runFfmpeg(args, { ...limits, seconds, maxPixels, niceness }, signal);
      // ffmpeg also reports success if the video has no picture.
      const hasFailed = end === 'broken' || (end === 'done' && !(await hasPictures(outputPath)));
      if (!hasFailed) return end;
    }
    return 'broken';
  });
  return end === 'done' ? { outcome: 'made' } : { outcome: 'unsupported', why: end };
}

/** The lowest estimate of the CPU time for a video; see videoCostSeconds. */
export function minVideoCostSeconds(tracks: readonly Track[], type: VideoType): number {
  const picture = pictureTrack(tracks);
  return typeof picture === 'string' ? 0 : videoCostSeconds(picture, isPlayable(picture, type));
}

/** What a video may cost; see renderVideo. */
export interface VideoLimits {
  readonly seconds?: number;
  readonly estimatedSeconds?: number;
  /** See ToolLimits. */
  readonly niceness?: number;
}

interface VideoOptions extends VideoLimits {
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

interface Attempt {
  readonly coding: readonly string[];
  readonly sound: Track | undefined;
}

function attempts(picture: Track, sound: Track | undefined, isCopied: boolean): readonly Attempt[] {
  const encodings = isCopied ? [copy, transcode(picture)] : [transcode(picture)];
  const sounds = sound ? [sound, undefined] : [undefined];
  return sounds.flatMap((each) => encodings.map((coding) => ({ coding, sound: each })));
}

function soundTrack(tracks: readonly Track[]): Track | undefined {
  const sounds = tracks.filter((track) => track.kind === 'sound');
  return sounds.find((track) => track.isDefault) ?? sounds[0];
}

function mapTracks(picture: Track, sound: Track | undefined): string[] {
  return ['-map', `0:${picture.index}`, ...(sound ? ['-map', `0:${sound.index}`] : [])];
}

// Browsers play 8 bits and 4:2:0. AVI and MPEG lack the display times that an MP4 needs.
function isPlayable({ codec, pixelFormat }: Track, type: VideoType): boolean {
  const isCommon = codec === 'h264' && (pixelFormat === 'yuv420p' || pixelFormat === 'yuvj420p');
  return isCommon && type !== 'avi' && type !== 'mpg';
}

const copy = ['-c:v', 'copy', ...withoutSei];

function transcode(picture: Track): string[] {
  const { width, height } = videoSize(displayedSize(picture));
  const filters = [
    ...deinterlaceFilters(picture),
    ...toneMappingFilters(picture),
    `scale=${width}:${height}`,
    'setsar=1',
  ];
  return [
    ...['-vf', filters.join(','), '-fps_mode', 'vfr'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-pix_fmt', 'yuv420p', '-threads', '4'],
    ...withoutSei,
  ];
}

// Never copied: every AAC packet may carry notes (ISO/IEC 14496-3, fill and data stream elements), which ffmpeg cannot
// remove. At this rate the second coding is inaudible.
function soundCoding(sound: Track | undefined): string[] {
  return sound ? ['-c:a', 'aac', '-b:a', '192k', '-ac', '2'] : [];
}

function mp4Output(path: string): string[] {
  return ['-movflags', '+faststart', '-f', 'mp4', `file:${path}`];
}
