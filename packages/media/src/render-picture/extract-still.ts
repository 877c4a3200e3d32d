import type { LocalVideo } from '../input/local-media.ts';
import type { RenditionReason } from '../outcomes.ts';
import { toneMappingFilters } from '../render-video/tone-mapping.ts';
import { posterSize } from '../rendition-size.ts';
import { runFfmpeg } from '../sandbox/ffmpeg.ts';
import type { TimedEnd } from '../sandbox/run-tool.ts';
import { maxOutputBytes } from '../sandbox/tool-output.ts';
import { withDeadline } from '../sandbox/with-deadline.ts';
import type { Size } from '../size.ts';
import { videoTracks } from '../video-layout/ffprobe.ts';
import { deinterlaceFilters } from '../video-layout/interlaced.ts';
import { displayedSize, pictureTrack } from '../video-layout/probe-video.ts';
import { videoGuards } from '../video-layout/video-codecs.ts';
import type { ProcessBudget } from './picture-job.ts';
import { decodedSize } from './picture-sizes.ts';

interface StillOptions extends ProcessBudget {
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

/** A PNG that ffmpeg wrote. */
export interface Still {
  readonly path: string;
  readonly type: 'png';
  /** The size of the original picture, if the PNG is smaller. */
  readonly whole?: Size;
}

const GiB = 1024 ** 3;
const limits = { seconds: 120, cpuSeconds: 60, addressBytes: 4 * GiB, fileBytes: maxOutputBytes.picture };
// The first frame is often black, so the most representative of the first second is used.
const firstFrames = 24;

/** Writes a frame of a video's beginning to `png`, upright and with square pixels; no larger than `isWhole` requires. */
export function extractVideoFrame(
  video: LocalVideo,
  png: string,
  options: StillOptions & { readonly isWhole: boolean },
): Promise<Still | RenditionReason> {
  return extractFrame(video, png, { ...options, sizeFor: posterSize, firstFrames });
}

/** Writes the first picture of an AVIF or HEIC sequence, which has the structure of a video, to `png`. */
export function extractSequencePicture(
  path: string,
  png: string,
  options: StillOptions,
): Promise<Still | RenditionReason> {
  const video = { path, type: 'mp4' } as const;
  return extractFrame(video, png, { ...options, isWhole: true, sizeFor: (size) => size, firstFrames: 1 });
}

interface FrameOptions extends StillOptions {
  readonly isWhole: boolean;
  readonly sizeFor: (size: Size) => Size;
  readonly firstFrames: number;
}

async function extractFrame(
  video: LocalVideo,
  png: string,
  { isWhole, sizeFor, firstFrames, ...options }: FrameOptions,
): Promise<Still | RenditionReason> {
  const { path, type, tracks = await videoTracks(path, type, options.signal) } = video;
  if (typeof tracks === 'string') return tracks;
  const track = pictureTrack(tracks);
  if (typeof track === 'string') return track;
  const whole = sizeFor(displayedSize(track));
  const { width, height } = isWhole ? whole : decodedSize(whole);
  const selection = firstFrames > 1 ? [...deinterlaceFilters(track), representativeFrameFilter(firstFrames)] : [];
  const scale = `scale=${width}:${height}:flags=lanczos+accurate_rnd`;
  const filters = [...selection, ...toneMappingFilters(track), scale, 'setsar=1'];
  const input = [...videoGuards(type), '-i', `file:${path}`];
  const output = ['-filter_complex', `[0:${track.index}]${filters.join(',')}`, ...pngOutput(png)];
  const end = await run({ input, output }, options);
  return end === 'done' ? { path: png, type: 'png', whole } : end;
}

// Compares every nth pixel only: holding and comparing whole frames costs as much as decoding them. streamselect passes
// nothing until both its inputs have begun, which for the selected frame is its own time: so the first frame that comes
// out is that one in full size (of frames with the same time, one of them).
function representativeFrameFilter(frames: number): string {
  const selected = `scale=320:180:flags=neighbor,thumbnail=n=${frames}`;
  return `split[whole][small];[small]${selected}[chosen];[chosen][whole]streamselect=inputs=2:map=1`;
}

/** Writes a BMP, which sharp does not read, to `png`. */
export async function extractBitmap(
  path: string,
  png: string,
  options: StillOptions,
): Promise<Still | RenditionReason> {
  const guards = ['-protocol_whitelist', 'file', '-format_whitelist', 'bmp_pipe', '-codec_whitelist', 'bmp'];
  const input = [...guards, '-f', 'bmp_pipe', '-i', `file:${path}`];
  const end = await run({ input, output: pngOutput(png) }, options);
  return end === 'done' ? { path: png, type: 'png' } : end;
}

function pngOutput(png: string): string[] {
  // A temporary file: its size does not matter.
  const coding = ['-c:v', 'png', '-compression_level', '1'];
  return ['-frames:v', '1', '-map_metadata', '-1', ...coding, '-f', 'image2', `file:${png}`];
}

function run(
  { input, output }: { readonly input: readonly string[]; readonly output: readonly string[] },
  { maxPixels, signal, niceness, seconds = limits.seconds }: StillOptions,
): Promise<TimedEnd> {
  // More threads would decode frames that are not used.
  const args = { input: ['-threads', '1', ...input], output };
  const ffmpegLimits = { ...limits, seconds, maxPixels, niceness };
  return withDeadline(seconds, signal, (signal) => runFfmpeg(args, ffmpegLimits, signal));
}
