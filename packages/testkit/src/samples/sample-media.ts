import { hash, randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { execa } from 'execa';
import { patienceMs } from '../patience.ts';
import { madeOnce } from './made-once.ts';

/** The size of a test picture in pixels, and further options of ffmpeg. */
export interface Sample {
  readonly width: number;
  readonly height: number;
  readonly options?: readonly string[];
}

export interface VideoSample extends Sample {
  readonly seconds?: number;
  readonly sound?: boolean;
}

/** The ffmpeg options for each type of photo. */
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

/** The ffmpeg options for each type of video. */
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

/** A test picture, made by the system's ffmpeg. */
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
 * An interlaced video of moving vertical bars: adjacent lines differ, as in no progressive frame. `options` set the codec, and
 * whether frames are marked as interlaced.
 */
export function wovenVideo(...options: readonly string[]): Promise<Buffer> {
  const woven = `nullsrc=size=160x120:rate=50:duration=1,geq=${bars.replaceAll(',', '\\,')},interlace=scan=tff:lowpass=off`;
  return made(['-f', 'lavfi', '-i', woven, '-pix_fmt', 'yuv420p', ...options]);
}

/** The output of ffmpeg with these arguments (without the output path). */
export async function made(args: readonly string[]): Promise<Buffer> {
  // Samples are known by what ffmpeg reads, not by the paths of temporary files.
  const words = args.map(async (arg) => (isAbsolute(arg) ? hash('sha256', await readFile(arg)) : arg));
  return madeOnce(await Promise.all(words), () =>
    inTemporaryFile(async (path) => {
      await execa('ffmpeg', ['-nostdin', '-y', '-v', 'fatal', ...args, path], { timeout: patienceMs });
      return readFile(path);
    }),
  );
}

function picture(width: number, height: number, seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `testsrc2=size=${width}x${height}:rate=10:duration=${seconds}`];
}

// Containers that begin with an index cannot be written to a pipe.
async function inTemporaryFile<T>(use: (path: string) => Promise<T>): Promise<T> {
  const path = join(tmpdir(), `sample-${randomUUID()}`);
  try {
    return await use(path);
  } finally {
    await rm(path, { force: true });
  }
}
