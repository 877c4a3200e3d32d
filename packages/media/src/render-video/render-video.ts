import type { LocalVideo } from '../input/local-media.ts';
import type { VideoType } from '../media-type.ts';
import type { Rendered } from '../rendition-outcome.ts';
import { videoSize } from '../rendition-size.ts';
import { type FfmpegLimits, runFfmpeg } from '../sandbox/ffmpeg.ts';
import { maxOutputBytes } from '../sandbox/tool-output.ts';
import { type Track, videoTracks } from '../video-layout/ffprobe.ts';
import { deinterlaced, hasInterlacedFrames } from '../video-layout/interlaced.ts';
import { hasPictures } from '../video-layout/mp4-tracks.ts';
import { pictureTrack, sizeOnScreen } from '../video-layout/probe-video.ts';
import { videoGuards } from '../video-layout/video-codecs.ts';
import { hidesPictures } from '../video-layout/video-edits.ts';
import { inTime } from './render-time.ts';
import { toSdr } from './tone-mapping.ts';
import { videoCostSeconds } from './video-cost.ts';

const GiB = 1024 ** 3;
const mostSeconds = 45 * 60;
const limits: Omit<FfmpegLimits, 'maxPixels' | 'seconds'> = {
  cpuSeconds: 40 * 60,
  addressBytes: 4 * GiB,
  fileBytes: maxOutputBytes.video,
};

// Whole slices and parameters (ITU-T H.264 table 7-1), and nothing else: SEI carries what a camera or an encoder likes to note,
// positions included, and delimiters of pictures and streams are needless in an MP4. ffmpeg 5.1 can only take SEI away
// as a whole. Then all that is left is read and written anew, which drops what stands behind the end of parameters.
const withoutNotes = ['-bsf:v', 'filter_units=pass_types=1|5|7|8|13,h264_metadata'];

const withoutMetadata = [
  ...['-map_metadata', '-1', '-map_metadata:s', '-1', '-map_chapters', '-1'],
  ...['-fflags', '+bitexact', '-flags', '+bitexact'],
];

/**
 * Makes the video that browsers play, an MP4 that can be watched while it loads, without any metadata: the default
 * picture track, copied where it is H.264 that browsers play and all of it is shown, and else coded anew (H.264, at most 1080p, deinterlaced),
 * and the default sound, always coded anew (AAC, stereo).
 *
 * A video is `timed_out` if it takes longer than `seconds` in all, however many ways are tried. It is `too_costly` if one way takes more than 40
 * minutes of processor time, or if it is estimated at more than `estimatedSeconds` of it.
 * Rejects where rendering broke down: ffmpeg missing or killed, `signal` aborted. Rejects with OutputRefused if ffmpeg left something else than an MP4.
 */
export async function renderVideo(
  video: LocalVideo,
  outputPath: string,
  { maxPixels, signal, seconds = mostSeconds, estimatedSeconds = Number.POSITIVE_INFINITY, niceness }: VideoOptions,
): Promise<Rendered> {
  const { path, type, tracks = await videoTracks(path, type, signal) } = video;
  if (typeof tracks === 'string') return { outcome: 'unsupported', why: tracks };
  const picture = pictureTrack(tracks);
  if (typeof picture === 'string') return { outcome: 'unsupported', why: picture };
  const input = ['-threads', '4', ...videoGuards(type), '-i', `file:${path}`];
  const end = await inTime(seconds, signal, async (within) => {
    const bounds = { maxPixels, signal: within };
    const isCopied =
      plays(picture, type) &&
      !(await hidesPictures({ path, type, track: picture })) &&
      !(await hasInterlacedFrames({ path, type, track: picture }, bounds));
    if (videoCostSeconds(picture, isCopied) > estimatedSeconds) return 'too_costly';
    // What cannot be put into an MP4 as it is, and sound that cannot be decoded, only show when one tries.
    for (const { coding, sound } of ways(picture, soundTrack(tracks), isCopied)) {
      const output = [...tracksOf(picture, sound), ...coding, ...soundCoding(sound), ...withoutMetadata];
      const work = { input, output: [...output, ...mp4At(outputPath)] };
      const end = await runFfmpeg(work, { ...limits, seconds, maxPixels, niceness }, within);
      // What shows no picture is done too, for ffmpeg.
      const isNone = end === 'broken' || (end === 'done' && !(await hasPictures(outputPath)));
      if (!isNone) return end;
    }
    return 'broken';
  });
  return end === 'done' ? { outcome: 'made' } : { outcome: 'unsupported', why: end };
}

/** The least that the video costs in processor time, as far as its tracks tell; see videoCostSeconds. */
export function leastVideoCostSeconds(tracks: readonly Track[], type: VideoType): number {
  const picture = pictureTrack(tracks);
  return typeof picture === 'string' ? 0 : videoCostSeconds(picture, plays(picture, type));
}

/** What a video may cost; see renderVideo. */
export interface VideoBounds {
  readonly seconds?: number;
  readonly estimatedSeconds?: number;
  /** See ToolLimits. */
  readonly niceness?: number;
}

interface VideoOptions extends VideoBounds {
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

interface Way {
  readonly coding: readonly string[];
  readonly sound: Track | undefined;
}

function ways(picture: Track, sound: Track | undefined, isCopied: boolean): readonly Way[] {
  const codings = isCopied ? [copied, coded(picture)] : [coded(picture)];
  const sounds = sound ? [sound, undefined] : [undefined];
  return sounds.flatMap((each) => codings.map((coding) => ({ coding, sound: each })));
}

function soundTrack(tracks: readonly Track[]): Track | undefined {
  const sounds = tracks.filter((track) => track.kind === 'sound');
  return sounds.find((track) => track.isDefault) ?? sounds[0];
}

function tracksOf(picture: Track, sound: Track | undefined): string[] {
  return ['-map', `0:${picture.index}`, ...(sound ? ['-map', `0:${sound.index}`] : [])];
}

// 8 bits and 4:2:0 is what browsers play. AVI and MPEG keep no times of display, which an MP4 needs.
function plays({ codec, pixelFormat }: Track, type: VideoType): boolean {
  const isCommon = codec === 'h264' && (pixelFormat === 'yuv420p' || pixelFormat === 'yuvj420p');
  return isCommon && type !== 'avi' && type !== 'mpg';
}

const copied = ['-c:v', 'copy', ...withoutNotes];

function coded(picture: Track): string[] {
  const { width, height } = videoSize(sizeOnScreen(picture));
  const filters = [...deinterlaced(picture), ...toSdr(picture), `scale=${width}:${height}`, 'setsar=1'];
  return [
    ...['-vf', filters.join(','), '-fps_mode', 'vfr'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-pix_fmt', 'yuv420p', '-threads', '4'],
    ...withoutNotes,
  ];
}

// Never copied: every packet of AAC has room for notes (ISO/IEC 14496-3, fill and data stream elements), and nothing in
// ffmpeg takes them out. At this rate nobody hears the second coding.
function soundCoding(sound: Track | undefined): string[] {
  return sound ? ['-c:a', 'aac', '-b:a', '192k', '-ac', '2'] : [];
}

function mp4At(path: string): string[] {
  return ['-movflags', '+faststart', '-f', 'mp4', `file:${path}`];
}
