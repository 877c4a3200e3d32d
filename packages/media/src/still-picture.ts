import type { ToolEnd } from './bounded-process.ts';
import { type FfmpegLimits, runFfmpeg } from './ffmpeg.ts';
import { filmTracks } from './ffprobe.ts';
import { filmGuards } from './film-codecs.ts';
import { evenSize, within } from './fit.ts';
import type { VideoType } from './media-type.ts';
import { pictureTrack, sizeOnScreen } from './probe-video.ts';
import type { UnsupportedReason } from './unsupported.ts';

interface StillOptions {
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

const GiB = 1024 ** 3;
// No picture of a film is made larger.
const poster = { longest: 1920, shortest: 1920 };
// The first frame is often black: the most telling of the first second is taken.
const firstFrames = 24;

/** Writes one frame of a film's beginning to `png`, upright and with square pixels. */
export async function pictureOfFilm(
  { path, type }: { path: string; type: VideoType },
  png: string,
  { maxPixels, signal }: StillOptions,
): Promise<'done' | UnsupportedReason> {
  const tracks = await filmTracks(path, type, signal);
  if (typeof tracks === 'string') return tracks;
  const track = pictureTrack(tracks);
  if (typeof track === 'string') return track;
  const { width, height } = evenSize(within(sizeOnScreen(track), poster));
  const filters = `scale=${width}:${height},setsar=1,thumbnail=n=${firstFrames}`;
  const input = [...filmGuards(type), '-i', `file:${path}`];
  return runFfmpeg(
    { input, output: ['-map', `0:${track.index}`, '-vf', filters, ...toPng(png)] },
    limits(maxPixels),
    signal,
  );
}

/** Writes a BMP, which sharp does not read, to `png`. */
export function pictureOfBitmap(path: string, png: string, { maxPixels, signal }: StillOptions): Promise<ToolEnd> {
  const guards = ['-protocol_whitelist', 'file', '-format_whitelist', 'bmp_pipe', '-codec_whitelist', 'bmp'];
  const input = [...guards, '-f', 'bmp_pipe', '-i', `file:${path}`];
  return runFfmpeg({ input, output: toPng(png) }, limits(maxPixels), signal);
}

function toPng(png: string): string[] {
  return ['-frames:v', '1', '-map_metadata', '-1', '-c:v', 'png', '-f', 'image2', `file:${png}`];
}

function limits(maxPixels: number): FfmpegLimits {
  return { seconds: 60, cpuSeconds: 60, addressBytes: 4 * GiB, fileBytes: GiB, maxPixels };
}
