import type { ToolEnd } from './bounded-process.ts';
import { runFfmpeg } from './ffmpeg.ts';
import { filmTracks } from './ffprobe.ts';
import { filmGuards } from './film-codecs.ts';
import { isPictureTrack } from './heif-size.ts';
import { deinterlaced } from './interlaced.ts';
import type { LocalFilm } from './local-media.ts';
import { lookAtFile } from './local-source.ts';
import { pictureTrack, sizeOnScreen } from './probe-video.ts';
import { inTime } from './render-time.ts';
import { posterSize } from './rendition-size.ts';
import { toSdr } from './tone-mapping.ts';
import { maxOutputBytes } from './tool-output.ts';
import type { Size, UnsupportedReason } from './unsupported.ts';

interface StillOptions {
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

const GiB = 1024 ** 3;
const limits = { seconds: 60, cpuSeconds: 60, addressBytes: 4 * GiB, fileBytes: maxOutputBytes.picture };
// The first frame is often black: the most telling of the first second is taken.
const firstFrames = 24;

/** Writes one frame of a film's beginning to `png`, upright and with square pixels. */
export function pictureOfFilm(
  film: LocalFilm,
  png: string,
  options: StillOptions,
): Promise<'done' | UnsupportedReason> {
  return oneFrame(film, png, { ...options, sized: posterSize, firstFrames });
}

/** Writes the first picture of an AVIF or HEIC sequence, which is a film by its structure, to `png`. */
export function pictureOfSequence(
  path: string,
  png: string,
  options: StillOptions,
): Promise<'done' | UnsupportedReason> {
  return oneFrame({ path, type: 'mp4' }, png, { ...options, sized: (whole) => whole, firstFrames: 1 });
}

/**
 * Writes an AVIF of high dynamic range to `png`, in the range of common screens; `not needed` where ffmpeg cannot: then the
 * colours are as they are in the file.
 */
export async function pictureOfHdr(path: string, png: string, options: StillOptions): Promise<'done' | 'not needed'> {
  const end = await pictureOfSequence(path, png, options);
  return end === 'done' ? end : 'not needed';
}

/** Whether the AVIF or HEIC at `path` is a sequence (ISO/IEC 23008-12 section 7) and no picture, as for the probe. */
export function isSequence(path: string): Promise<boolean> {
  return lookAtFile(path, isPictureTrack);
}

async function oneFrame(
  film: LocalFilm,
  png: string,
  { maxPixels, signal, sized, firstFrames }: StillOptions & { sized: (size: Size) => Size; firstFrames: number },
): Promise<'done' | UnsupportedReason> {
  const { path, type, tracks = await filmTracks(path, type, signal) } = film;
  if (typeof tracks === 'string') return tracks;
  const track = pictureTrack(tracks);
  if (typeof track === 'string') return track;
  const { width, height } = sized(sizeOnScreen(track));
  const unwoven = firstFrames > 1 ? deinterlaced(track) : [];
  const filters = [...unwoven, ...toSdr(track), `scale=${width}:${height}`, 'setsar=1'].join(',');
  const graph = `[0:${track.index}]${filters}${firstFrames > 1 ? mostTellingOf(firstFrames) : ''}`;
  const input = [...filmGuards(type), '-i', `file:${path}`];
  return runInTime({ input, output: ['-filter_complex', graph, ...toPng(png)] }, maxPixels, signal);
}

// Chosen by every nth pixel, which tells the colours of all: to hold and compare whole frames costs as much as to decode them.
// streamselect passes nothing before both its inputs have begun, which for the chosen frame is its own time: so the first
// frame that comes out is that one, whole (of frames that share a time, one of them).
function mostTellingOf(frames: number): string {
  const chosen = `scale=320:180:flags=neighbor,thumbnail=n=${frames}`;
  return `,split[whole][small];[small]${chosen}[chosen];[chosen][whole]streamselect=inputs=2:map=1`;
}

/** Writes a BMP, which sharp does not read, to `png`. */
export function pictureOfBitmap(path: string, png: string, { maxPixels, signal }: StillOptions): Promise<ToolEnd> {
  const guards = ['-protocol_whitelist', 'file', '-format_whitelist', 'bmp_pipe', '-codec_whitelist', 'bmp'];
  const input = [...guards, '-f', 'bmp_pipe', '-i', `file:${path}`];
  return runInTime({ input, output: toPng(png) }, maxPixels, signal);
}

function toPng(png: string): string[] {
  // Read once and removed: its size does not matter.
  const coding = ['-c:v', 'png', '-compression_level', '1'];
  return ['-frames:v', '1', '-map_metadata', '-1', ...coding, '-f', 'image2', `file:${png}`];
}

function runInTime(
  { input, output }: { readonly input: readonly string[]; readonly output: readonly string[] },
  maxPixels: number,
  signal: AbortSignal,
): Promise<ToolEnd> {
  // More threads would decode frames that nobody asks for.
  const work = { input: ['-threads', '1', ...input], output };
  return inTime(limits.seconds, signal, (within) => runFfmpeg(work, { ...limits, maxPixels }, within));
}
