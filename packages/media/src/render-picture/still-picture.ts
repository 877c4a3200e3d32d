import type { LocalVideo } from '../input/local-media.ts';
import { lookAtFile } from '../input/local-source.ts';
import { isPictureTrack } from '../photo-size/heif-size.ts';
import { inTime } from '../render-video/render-time.ts';
import { toSdr } from '../render-video/tone-mapping.ts';
import type { RenditionReason } from '../rendition-outcome.ts';
import { posterSize } from '../rendition-size.ts';
import type { TimedEnd } from '../sandbox/bounded-process.ts';
import { runFfmpeg } from '../sandbox/ffmpeg.ts';
import { maxOutputBytes } from '../sandbox/tool-output.ts';
import type { Size } from '../size.ts';
import { videoTracks } from '../video-layout/ffprobe.ts';
import { deinterlaced } from '../video-layout/interlaced.ts';
import { pictureTrack, sizeOnScreen } from '../video-layout/probe-video.ts';
import { videoGuards } from '../video-layout/video-codecs.ts';
import type { ProcessBudget } from './picture-job.ts';
import { decodedSize } from './picture-sizes.ts';

/** ffmpeg may take a minute of processor time, and two by the clock unless the budget says otherwise. */
interface StillOptions extends ProcessBudget {
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

/** A PNG that ffmpeg wrote. */
export interface Still {
  readonly path: string;
  readonly type: 'png';
  /** The size of the picture that it stands for, if it is a smaller one. */
  readonly whole?: Size;
}

const GiB = 1024 ** 3;
const limits = { seconds: 120, cpuSeconds: 60, addressBytes: 4 * GiB, fileBytes: maxOutputBytes.picture };
// The first frame is often black: the most telling of the first second is taken.
const firstFrames = 24;

/** Writes one frame of a video's beginning to `png`, upright and with square pixels; no larger than `isWhole` requires. */
export function pictureOfVideo(
  video: LocalVideo,
  png: string,
  options: StillOptions & { readonly isWhole: boolean },
): Promise<Still | RenditionReason> {
  return oneFrame(video, png, { ...options, sized: posterSize, firstFrames });
}

/** Writes the first picture of an AVIF or HEIC sequence, which is a video by its structure, to `png`. */
export function pictureOfSequence(path: string, png: string, options: StillOptions): Promise<Still | RenditionReason> {
  return oneFrame({ path, type: 'mp4' }, png, { ...options, isWhole: true, sized: (size) => size, firstFrames: 1 });
}

/**
 * Writes an AVIF of high dynamic range to `png`, in the range of common screens; `not needed` where ffmpeg cannot: then the
 * colours are as they are in the file.
 */
export async function pictureOfHdr(path: string, png: string, options: StillOptions): Promise<Still | 'not needed'> {
  const still = await pictureOfSequence(path, png, options);
  return typeof still === 'string' ? 'not needed' : still;
}

/** Whether the AVIF or HEIC at `path` is a sequence (ISO/IEC 23008-12 section 7) and no picture, as for the probe. */
export function isSequence(path: string): Promise<boolean> {
  return lookAtFile(path, isPictureTrack);
}

interface FrameOptions extends StillOptions {
  readonly isWhole: boolean;
  readonly sized: (size: Size) => Size;
  readonly firstFrames: number;
}

async function oneFrame(
  video: LocalVideo,
  png: string,
  { isWhole, sized, firstFrames, ...options }: FrameOptions,
): Promise<Still | RenditionReason> {
  const { path, type, tracks = await videoTracks(path, type, options.signal) } = video;
  if (typeof tracks === 'string') return tracks;
  const track = pictureTrack(tracks);
  if (typeof track === 'string') return track;
  const whole = sized(sizeOnScreen(track));
  const { width, height } = isWhole ? whole : decodedSize(whole);
  const chosen = firstFrames > 1 ? [...deinterlaced(track), mostTellingOf(firstFrames)] : [];
  const filters = [...chosen, ...toSdr(track), `scale=${width}:${height}:flags=lanczos+accurate_rnd`, 'setsar=1'];
  const input = [...videoGuards(type), '-i', `file:${path}`];
  const output = ['-filter_complex', `[0:${track.index}]${filters.join(',')}`, ...toPng(png)];
  const end = await runInTime({ input, output }, options);
  return end === 'done' ? { path: png, type: 'png', whole } : end;
}

// Chosen by every nth pixel, which tells the colours of all: to hold and compare whole frames costs as much as to decode them.
// streamselect passes nothing before both its inputs have begun, which for the chosen frame is its own time: so the first
// frame that comes out is that one, whole (of frames that share a time, one of them).
function mostTellingOf(frames: number): string {
  const chosen = `scale=320:180:flags=neighbor,thumbnail=n=${frames}`;
  return `split[whole][small];[small]${chosen}[chosen];[chosen][whole]streamselect=inputs=2:map=1`;
}

/** Writes a BMP, which sharp does not read, to `png`. */
export async function pictureOfBitmap(
  path: string,
  png: string,
  options: StillOptions,
): Promise<Still | RenditionReason> {
  const guards = ['-protocol_whitelist', 'file', '-format_whitelist', 'bmp_pipe', '-codec_whitelist', 'bmp'];
  const input = [...guards, '-f', 'bmp_pipe', '-i', `file:${path}`];
  const end = await runInTime({ input, output: toPng(png) }, options);
  return end === 'done' ? { path: png, type: 'png' } : end;
}

function toPng(png: string): string[] {
  // Read once and removed: its size does not matter.
  const coding = ['-c:v', 'png', '-compression_level', '1'];
  return ['-frames:v', '1', '-map_metadata', '-1', ...coding, '-f', 'image2', `file:${png}`];
}

function runInTime(
  { input, output }: { readonly input: readonly string[]; readonly output: readonly string[] },
  { maxPixels, signal, niceness, ...budget }: StillOptions,
): Promise<TimedEnd> {
  // More threads would decode frames that nobody asks for.
  const work = { input: ['-threads', '1', ...input], output };
  const { seconds = limits.seconds } = budget;
  return inTime(seconds, signal, (within) => runFfmpeg(work, { ...limits, seconds, maxPixels, niceness }, within));
}
