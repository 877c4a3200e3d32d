import { open } from 'node:fs/promises';
import type { ToolEnd } from './bounded-process.ts';
import { runFfmpeg } from './ffmpeg.ts';
import { filmTracks } from './ffprobe.ts';
import { filmGuards } from './film-codecs.ts';
import { within } from './fit.ts';
import type { VideoType } from './media-type.ts';
import { pictureTrack, sizeOnScreen } from './probe-video.ts';
import { inTime } from './render-time.ts';
import { toSdr } from './tone-mapping.ts';
import type { UnsupportedReason } from './unsupported.ts';

interface StillOptions {
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

const GiB = 1024 ** 3;
const limits = { seconds: 60, cpuSeconds: 60, addressBytes: 4 * GiB, fileBytes: GiB };
// No picture of a film is made larger.
const poster = { longest: 1920, shortest: 1920 };
const whole = { longest: Number.POSITIVE_INFINITY, shortest: Number.POSITIVE_INFINITY };
// The first frame is often black: the most telling of the first second is taken.
const firstFrames = 24;

/** Writes one frame of a film's beginning to `png`, upright and with square pixels. */
export function pictureOfFilm(
  film: { path: string; type: VideoType },
  png: string,
  options: StillOptions,
): Promise<'done' | UnsupportedReason> {
  return oneFrame(film, png, { ...options, most: poster, firstFrames });
}

/** Writes the first picture of an AVIF or HEIC sequence, which is a film by its structure, to `png`. */
export function pictureOfSequence(
  path: string,
  png: string,
  options: StillOptions,
): Promise<'done' | UnsupportedReason> {
  return oneFrame({ path, type: 'mp4' }, png, { ...options, most: whole, firstFrames: 1 });
}

/** Whether the major brand of the AVIF or HEIC at `path` says that it is a sequence (ISO/IEC 23008-12). */
export async function isSequence(path: string): Promise<boolean> {
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(12), 0, 12, 0);
  return /^ftyp(avis|hev[cxms])$/.test(buffer.toString('latin1', 4, 12));
}

async function oneFrame(
  { path, type }: { path: string; type: VideoType },
  png: string,
  { maxPixels, signal, most, firstFrames }: StillOptions & { most: typeof poster; firstFrames: number },
): Promise<'done' | UnsupportedReason> {
  const tracks = await filmTracks(path, type, signal);
  if (typeof tracks === 'string') return tracks;
  const track = pictureTrack(tracks);
  if (typeof track === 'string') return track;
  const { width, height } = within(sizeOnScreen(track), most);
  const size = `${Math.max(1, Math.round(width))}:${Math.max(1, Math.round(height))}`;
  const choice = firstFrames > 1 ? `,thumbnail=n=${firstFrames}` : '';
  const filters = [...toSdr(track), `scale=${size}`, `setsar=1${choice}`].join(',');
  const input = [...filmGuards(type), '-i', `file:${path}`];
  return runInTime({ input, output: ['-map', `0:${track.index}`, '-vf', filters, ...toPng(png)] }, maxPixels, signal);
}

/** Writes a BMP, which sharp does not read, to `png`. */
export function pictureOfBitmap(path: string, png: string, { maxPixels, signal }: StillOptions): Promise<ToolEnd> {
  const guards = ['-protocol_whitelist', 'file', '-format_whitelist', 'bmp_pipe', '-codec_whitelist', 'bmp'];
  const input = [...guards, '-f', 'bmp_pipe', '-i', `file:${path}`];
  return runInTime({ input, output: toPng(png) }, maxPixels, signal);
}

function toPng(png: string): string[] {
  return ['-frames:v', '1', '-map_metadata', '-1', '-c:v', 'png', '-f', 'image2', `file:${png}`];
}

function runInTime(
  work: { readonly input: readonly string[]; readonly output: readonly string[] },
  maxPixels: number,
  signal: AbortSignal,
): Promise<ToolEnd> {
  return inTime(limits.seconds, signal, (within) => runFfmpeg(work, { ...limits, maxPixels }, within));
}
