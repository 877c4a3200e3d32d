import type { VideoType } from '../detect-media-type.ts';
import type { Rendered } from '../outcomes.ts';
import type { ProcessBudget } from '../render-picture/picture-job.ts';
import { videoSize } from '../rendition-size.ts';
import { addressBytesOf } from '../sandbox/address-space.ts';
import { type FfmpegLimits, runFfmpeg } from '../sandbox/ffmpeg.ts';
import { type TimedEnd, withDeadline } from '../sandbox/run-tool.ts';
import { maxOutputBytes } from '../sandbox/tool-output.ts';
import { hasCleanEntryPoints, hasSeveralDescriptions } from '../video-layout/entry-points.ts';
import { type LocalVideo, type Track, videoTracks } from '../video-layout/ffprobe.ts';
import { deinterlaceFilters, hasInterlacedFrames } from '../video-layout/interlaced.ts';
import { displayedSize, pictureTrack } from '../video-layout/probe-video.ts';
import { decoderOptions, isoTypes, videoGuards } from '../video-layout/video-codecs.ts';
import { hasHiddenPictures, hasPictures, startOptions } from '../video-layout/video-edits.ts';
import { clearOtherBoxes } from './clear-boxes.ts';
import { type ColourFilters, colourAttempts, scaleForEncoder } from './colour-filters.ts';
import { isPlayable, videoCostSeconds } from './video-cost.ts';

const maxSeconds = 45 * 60;
const maxCpuSeconds = 40 * 60;
const limits: Omit<FfmpegLimits, 'maxPixels' | 'seconds' | 'cpuSeconds'> = {
  addressBytes: addressBytesOf.ffmpeg,
  fileBytes: maxOutputBytes.video,
};

// Keeps slices and parameter sets only (ITU-T H.264 table 7-1): SEI may carry positions and other notes of a camera or
// encoder, and an MP4 needs no delimiters. h264_metadata then rewrites the rest, which drops bytes after the parameters.
const withoutSei = ['-bsf:v', 'filter_units=pass_types=1|5|7|8|13,h264_metadata'];

// Never copied: every AAC packet may carry notes (ISO/IEC 14496-3, fill and data stream elements), which ffmpeg cannot
// remove. At this rate the second coding is inaudible.
const soundCoding = ['-c:a', 'aac', '-b:a', '192k', '-ac', '2'];
const mp4 = ['-movflags', '+faststart', '-f', 'mp4'];

// Not the side data of streams, such as profiles: see clear-boxes.ts.
const withoutMetadata = [
  ...['-map_metadata', '-1', '-map_metadata:s', '-1', '-map_chapters', '-1'],
  ...['-fflags', '+bitexact', '-flags', '+bitexact'],
];

/**
 * Makes an MP4 for browsers that plays while it loads, without metadata. The default picture track is copied if
 * `canBeCopied` says so and the copy plays from each of its entry points, else transcoded (H.264, at most 1080p, deinterlaced).
 * The sound is always transcoded (AAC, stereo).
 *
 * The result is `timed_out` after `seconds` for all attempts together, or after `cpuSeconds` of an attempt (40 minutes unless set), and
 * `too_costly` if the estimate exceeds `estimatedSeconds` of CPU time. `onProgress` gets the share of a transcoding that is done, from 0 to 1, when it has grown by a hundredth.
 * @throws ToolFailed if ffmpeg is missing or killed; OutputRefused if it left something other than an MP4; the reason of `signal`
 */
export async function renderVideo(
  video: LocalVideo,
  outputPath: string,
  { estimatedSeconds = Number.POSITIVE_INFINITY, signal, ...options }: VideoOptions,
): Promise<Rendered> {
  const { path, type, tracks = await videoTracks(path, type, signal) } = video;
  if (typeof tracks === 'string') return { outcome: 'unsupported', why: tracks };
  const picture = pictureTrack(tracks);
  if (typeof picture === 'string') return { outcome: 'unsupported', why: picture };
  const { seconds = maxSeconds, cpuSeconds = maxCpuSeconds } = options;
  const bounds = { ...options, seconds, cpuSeconds };
  const end = await withDeadline(seconds, signal, async (signal) => {
    const mayCopy = await canBeCopied({ path, type, track: picture }, { ...bounds, signal });
    // Whether a track fits into an MP4 and plays from every entry point, and whether sound can be decoded, only shows when tried.
    for (const attempt of attempts(picture, soundTracks(type, picture, tracks), mayCopy)) {
      if (videoCostSeconds(picture, attempt.isCopy) > estimatedSeconds) return 'too_costly';
      const end = await encode({ path, type, picture }, attempt, outputPath, { ...bounds, signal });
      if (end !== 'broken') return end;
    }
    return 'broken';
  });
  return end === 'done' ? { outcome: 'made' } : { outcome: 'unsupported', why: end };
}

async function encode(
  { path, type, picture }: { readonly path: string; readonly type: VideoType; readonly picture: Track },
  { isCopy, coding, sound }: Attempt,
  outputPath: string,
  { signal, onProgress, maxPixels, niceness, seconds, cpuSeconds }: AttemptBounds,
): Promise<TimedEnd> {
  const reading = [...videoGuards(type), ...decoderOptions(picture), ...startOptions(type, picture)];
  const input = ['-threads', '4', ...reading, '-i', `file:${path}`];
  const streams = ['-map', `0:${picture.index}`, ...(sound ? codeSound(sound) : [])];
  const output = [...streams, ...coding, ...withoutMetadata, ...mp4, `file:${outputPath}`];
  const report = isCopy ? undefined : reporterOf(picture.seconds, onProgress);
  const end = await runFfmpeg(
    { input, output },
    { ...limits, maxPixels, niceness, seconds, cpuSeconds },
    signal,
    report,
  );
  if (end !== 'done') return end;
  // ffmpeg also reports success if the video has no picture.
  const isUsable = isCopy ? hasCleanEntryPoints : hasPictures;
  if (!(await isUsable(outputPath))) return 'broken';
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

interface VideoOptions extends ProcessBudget {
  readonly estimatedSeconds?: number;
  readonly maxPixels: number;
  readonly signal: AbortSignal;
  readonly onProgress?: ((share: number) => void) | undefined;
}

type AttemptBounds = VideoOptions & Required<Pick<VideoOptions, 'seconds' | 'cpuSeconds'>>;

/** A way to make the video. */
interface Attempt {
  readonly isCopy: boolean;
  /** Options of ffmpeg for the picture. */
  readonly coding: readonly string[];
  readonly sound: Track | undefined;
}

function attempts(picture: Track, sounds: readonly Track[], mayCopy: boolean): readonly Attempt[] {
  const transcodings = colourAttempts(picture).map((colours) => ({
    isCopy: false,
    coding: transcode(picture, colours),
  }));
  const encodings = [...(mayCopy ? [{ isCopy: true, coding: copy }] : []), ...transcodings];
  return [...sounds, undefined].flatMap((sound) => encodings.map((each) => ({ ...each, sound })));
}

// The default one may have a codec that only its maker decodes.
const maxSounds = 4;

function soundTracks(type: VideoType, picture: Track, tracks: readonly Track[]): readonly Track[] {
  const sounds = tracks.filter((track) => track.kind === 'sound');
  // In MP4, ffprobe calls a track default if it is enabled (ISO/IEC 14496-12 8.3.2): others are off, unless that is said of the picture, too.
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

async function canBeCopied(
  video: { readonly path: string; readonly type: VideoType; readonly track: Track },
  bounds: Pick<VideoOptions, 'maxPixels' | 'signal'>,
): Promise<boolean> {
  if (!isPlayable(video.track, video.type)) return false;
  if ((await hasHiddenPictures(video)) || (await hasSeveralDescriptions(video))) return false;
  return !(await hasInterlacedFrames(video, bounds));
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
