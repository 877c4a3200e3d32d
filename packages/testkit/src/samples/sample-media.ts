import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { madeOnce } from './made-once.ts';

/** A test picture of this size in pixels, and further options of ffmpeg. */
export interface Sample {
  readonly width: number;
  readonly height: number;
  readonly options?: readonly string[];
}

export interface VideoSample extends Sample {
  readonly seconds?: number;
  readonly sound?: boolean;
}

/** How ffmpeg codes a photo of each type. */
const photoCoding = {
  jpg: ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', '-f', 'image2'],
  png: ['-c:v', 'png', '-f', 'image2'],
  gif: ['-f', 'gif'],
  webp: ['-c:v', 'libwebp', '-f', 'image2'],
  avif: ['-c:v', 'libaom-av1', '-cpu-used', '8', '-still-picture', '1', '-f', 'avif'],
  tiff: ['-c:v', 'tiff', '-f', 'image2'],
  bmp: ['-c:v', 'bmp', '-f', 'image2'],
};

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];

/** How ffmpeg codes a video of each type. */
const videoCoding = {
  mp4: [...h264, '-c:a', 'aac', '-f', 'mp4'],
  mov: [...h264, '-c:a', 'aac', '-f', 'mov'],
  '3gp': ['-c:v', 'mpeg4', '-c:a', 'aac', '-f', '3gp'],
  webm: ['-c:v', 'libvpx', '-deadline', 'realtime', '-c:a', 'libopus', '-f', 'webm'],
  mkv: [...h264, '-c:a', 'aac', '-f', 'matroska'],
  avi: ['-c:v', 'mpeg4', '-c:a', 'libmp3lame', '-f', 'avi'],
  mpg: ['-c:v', 'mpeg2video', '-c:a', 'mp2', '-r', '25', '-f', 'vob'],
  ts: [...h264, '-c:a', 'aac', '-f', 'mpegts'],
  ogv: ['-c:v', 'libtheora', '-c:a', 'libvorbis', '-f', 'ogg'],
  flv: ['-c:v', 'flv', '-c:a', 'libmp3lame', '-ar', '44100', '-f', 'flv'],
  wmv: ['-c:v', 'wmv2', '-c:a', 'wmav2', '-f', 'asf'],
};

/** A photo with a test picture, made by the system's ffmpeg. */
export function samplePhoto(type: keyof typeof photoCoding, { width, height, options = [] }: Sample): Promise<Buffer> {
  return made([...picture(width, height, 1), '-frames:v', '1', ...photoCoding[type], ...options]);
}

/** A video of a second, with sound by default, made by the system's ffmpeg. */
export function sampleVideo(
  type: keyof typeof videoCoding,
  { width, height, seconds = 1, sound = true, options = [] }: VideoSample,
): Promise<Buffer> {
  const tone = sound ? ['-f', 'lavfi', '-i', `sine=duration=${seconds}`] : [];
  return made([...picture(width, height, seconds), ...tone, ...videoCoding[type], ...options]);
}

const bars = "lum='if(gt(mod(X+N*8,40),20),235,16)':cb=128:cr=128";

/**
 * A video of upright bars that move, woven of two half pictures each: lines that are neighbours differ, as they do in no
 * whole picture of it. Whether its frames say that they are interlaced, and what it is coded as, is set by `options`.
 */
export function wovenVideo(...options: readonly string[]): Promise<Buffer> {
  const woven = `nullsrc=size=160x120:rate=50:duration=1,geq=${bars.replaceAll(',', '\\,')},interlace=scan=tff:lowpass=off`;
  return made(['-f', 'lavfi', '-i', woven, '-pix_fmt', 'yuv420p', ...options]);
}

/** Sound alone, or whatever else ffmpeg makes of these arguments (all but the output path). */
export function made(args: readonly string[]): Promise<Buffer> {
  const make = () =>
    inTemporaryFile(async (path) => {
      await execa('ffmpeg', ['-nostdin', '-y', '-v', 'fatal', ...args, path], { timeout: 60_000 });
      return readFile(path);
    });
  return readsFiles(args) ? make() : madeOnce(args, make);
}

// Else it takes what ffmpeg makes up.
function readsFiles(args: readonly string[]): boolean {
  return args.some((arg, n) => arg === '-i' && args[n - 1] !== 'lavfi');
}

function picture(width: number, height: number, seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `testsrc2=size=${width}x${height}:rate=10:duration=${seconds}`];
}

// Containers with an index at their beginning cannot be written to a pipe.
async function inTemporaryFile<T>(use: (path: string) => Promise<T>): Promise<T> {
  const path = join(tmpdir(), `sample-${randomUUID()}`);
  try {
    return await use(path);
  } finally {
    await rm(path, { force: true });
  }
}
