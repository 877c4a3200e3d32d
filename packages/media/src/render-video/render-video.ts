import { type Rendered, unsupported } from '../outcomes.ts';
import { videoSize } from '../rendition-size.ts';
import { runFfmpeg } from '../sandbox/ffmpeg.ts';
import type { ToolEnd } from '../sandbox/run-tool.ts';
import { maxOutputBytes, type ToolBudget } from '../sandbox/tool-limits.ts';
import { type ColourFilters, colourAttempts, scaleForEncoder } from '../video-layout/colour-filters.ts';
import { hasCleanEntryPoints } from '../video-layout/entry-points.ts';
import type { Track } from '../video-layout/ffprobe.ts';
import { deinterlaceFilters, hasInterlacedFrames } from '../video-layout/interlaced.ts';
import { displayedSize, type LocalVideo } from '../video-layout/read-video.ts';
import { isoTypes } from '../video-layout/video-codecs.ts';
import { ffmpegInput, isTrimmedOrJoined } from '../video-layout/video-edits.ts';
import { clearOtherBoxes } from './clear-boxes.ts';
import { isPlayable, videoCostSeconds } from './video-cost.ts';

// Keeps slices and parameter sets only (ITU-T H.264 table 7-1): SEI may carry positions and other notes of a camera or
// encoder, and an MP4 needs no delimiters. h264_metadata then rewrites the rest, which drops bytes after the parameters.
const withoutSei = ['-bsf:v', 'filter_units=pass_types=1|5|7|8|13,h264_metadata'];

// Sound is never copied: every AAC packet may carry notes (ISO/IEC 14496-3, fill and data stream elements), which ffmpeg cannot
// remove. At this rate the second coding is inaudible.
const soundCoding = ['-c:a', 'aac', '-b:a', '192k', '-ac', '2'];
const mp4 = ['-movflags', '+faststart', '-f', 'mp4'];

// These options do not remove the side data of streams, such as profiles. clear-boxes.ts does.
const withoutMetadata = [
  ...['-map_metadata', '-1', '-map_metadata:s', '-1', '-map_chapters', '-1'],
  ...['-fflags', '+bitexact', '-flags', '+bitexact'],
];

/**
 * Makes an MP4 for browsers that plays while it loads, without metadata. The default picture track is copied if
 * `canBeCopied` says so and the copy plays from each of its entry points, else transcoded (H.264, at most 1080p, deinterlaced).
 * The sound is always transcoded (AAC, stereo).
 *
 * The result is `timed_out` after the elapsed time of `budget` for all attempts together, or after its CPU time for one of them, and
 * `too_costly` if the estimate exceeds `estimatedSeconds` of CPU time. `onProgress` gets the share of a transcoding that is done, at most once
 * per percent.
 * @throws ToolFailed if ffmpeg is missing or killed; OutputRefused if it left something other than an MP4; the reason of `signal`
 */
export async function renderVideo(video: LocalVideo, outputPath: string, options: VideoOptions): Promise<Rendered> {
  const { budget, estimatedSeconds } = options;
  const deadline = performance.now() + budget.seconds * 1000;
  const mayCopy = await canBeCopied(video, options);
  // Whether a track fits into an MP4 and plays from every entry point, and whether sound can be decoded, only shows when tried.
  for (const attempt of attempts(video, mayCopy)) {
    if (videoCostSeconds(video.picture, attempt.isCopy) > estimatedSeconds) return unsupported('too_costly');
    const seconds = (deadline - performance.now()) / 1000;
    if (seconds <= 0) return unsupported('timed_out');
    const end = await encode(video, attempt, outputPath, { ...options, budget: { ...budget, seconds } });
    if (end === 'done') return { outcome: 'made' };
    if (end !== 'broken') return unsupported(end);
  }
  return unsupported('broken');
}

async function encode(
  video: LocalVideo,
  { isCopy, coding, sound }: Attempt,
  outputPath: string,
  { signal, onProgress, maxPixels, budget }: VideoOptions,
): Promise<ToolEnd> {
  const { picture } = video;
  const input = ['-threads', '4', ...ffmpegInput(video)];
  const streams = ['-map', `0:${picture.index}`, ...(sound ? codeSound(sound) : [])];
  const output = [...streams, ...coding, ...withoutMetadata, ...mp4, `file:${outputPath}`];
  const report = isCopy ? undefined : reporterOf(picture.seconds, onProgress);
  const limits = { ...budget, fileBytes: maxOutputBytes.video, maxPixels };
  const end = await runFfmpeg({ input, output }, limits, signal, report);
  if (end !== 'done') return end;
  // ffmpeg also reports success if the video has no picture, which has no entry point either.
  if (!(await hasCleanEntryPoints(outputPath))) return 'broken';
  await clearOtherBoxes(outputPath);
  return 'done';
}

// ffmpeg may be compromised, and report again and again.
function reporterOf(seconds: number, onProgress: VideoOptions['onProgress']): ((done: number) => void) | undefined {
  if (seconds === 0 || !onProgress) return undefined;
  let percent = 0;
  return (done) => {
    const reached = Math.min(100, Math.floor((100 * done) / seconds));
    if (reached <= percent) return;
    percent = reached;
    onProgress(percent / 100);
  };
}

interface VideoOptions {
  readonly budget: ToolBudget;
  readonly estimatedSeconds: number;
  readonly maxPixels: number;
  readonly signal: AbortSignal;
  readonly onProgress?: ((share: number) => void) | undefined;
}

/** A way to make the video. */
interface Attempt {
  readonly isCopy: boolean;
  /** Options of ffmpeg for the picture. */
  readonly coding: readonly string[];
  readonly sound: Track | undefined;
}

function attempts(video: LocalVideo, mayCopy: boolean): readonly Attempt[] {
  const { picture } = video;
  const transcodings = colourAttempts(picture).map((colours) => ({
    isCopy: false,
    coding: transcode(picture, colours),
  }));
  const encodings = [...(mayCopy ? [{ isCopy: true, coding: copy }] : []), ...transcodings];
  return [...soundAttempts(video), undefined].flatMap((sound) => encodings.map((each) => ({ ...each, sound })));
}

// The default sound may have a codec that only its maker decodes.
const maxSounds = 4;

function soundAttempts({ type, picture, sounds }: LocalVideo): readonly Track[] {
  // In MP4, ffprobe reports a track as default if it is enabled (ISO/IEC 14496-12 8.3.2). Sound that is not enabled is off, unless the picture is
  // not enabled either.
  const areOff = isoTypes.includes(type) && picture.isDefault && !sounds.some((track) => track.isDefault);
  if (areOff) return [];
  return sounds.toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault)).slice(0, maxSounds);
}

// The largest number of channels with a usual layout, which ffmpeg mixes down.
const maxMixedChannels = 8;

function codeSound(sound: Track): string[] {
  const { index, channels } = sound;
  const numbers = Array.from({ length: channels }, (_, n) => n);
  const mix = (side: number) => numbers.filter((n) => n % 2 === side).map((n) => `c${n}`);
  const pan = `pan=stereo|c0<${mix(0).join('+')}|c1<${mix(1).join('+')}`;
  return ['-map', `0:${index}`, ...(channels > maxMixedChannels ? ['-af', pan] : []), ...soundCoding];
}

async function canBeCopied(video: LocalVideo, options: VideoOptions): Promise<boolean> {
  if (!isPlayable(video.picture, video.type) || (await isTrimmedOrJoined(video))) return false;
  return !(await hasInterlacedFrames(video, options));
}

const copy = ['-c:v', 'copy', ...withoutSei];

function transcode(picture: Track, { statement, mapping, colours }: ColourFilters): string[] {
  const scaling = scaleForEncoder(videoSize(displayedSize(picture)), colours);
  const filters = [statement, ...deinterlaceFilters(picture), ...mapping, ...scaling];
  return [
    ...['-vf', filters.join(','), '-fps_mode', 'vfr'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-threads', '4'],
    ...withoutSei,
  ];
}
