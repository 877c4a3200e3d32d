import type { VideoType } from '../media-type.ts';
import { inTime } from '../render-video/render-time.ts';
import { boundedEnd } from '../sandbox/bounded-process.ts';
import { startInSandbox } from '../sandbox/sandbox.ts';
import { collectOutput } from '../sandbox/tool-answer.ts';
import type { Track } from './ffprobe.ts';
import { saysWholePictures } from './mp4-tracks.ts';
import { videoGuards } from './video-codecs.ts';
import { isoTypes } from './video-edits.ts';

// What bwdif takes.
const leastSide = 4;

/**
 * The filter of ffmpeg that makes whole pictures of those that say that they are two half ones, woven line by line:
 * screens show those as combs wherever something moves. All others pass as they are. It comes before all that scales
 * or mixes lines.
 */
export function deinterlaced({ width, height }: Track): readonly string[] {
  return Math.min(width, height) < leastSide ? [] : ['bwdif=mode=send_frame:deint=interlaced'];
}

const GiB = 1024 ** 3;
const limits = { seconds: 20, cpuSeconds: 20, addressBytes: 4 * GiB, fileBytes: 0 };
const mostOutputBytes = 64 * 1024;
const framesLookedAt = 24;

/**
 * Whether one of an H.264 track's first frames says that it is interlaced. The frames are asked, for containers err: ffmpeg
 * itself writes Matroska files of interlaced pictures that say `progressive`. Of an MP4 the parameters of H.264 often tell
 * that there can be none, which saves ffprobe a decoding.
 *
 * Rejects with ToolFailed where ffprobe is missing or killed, or with the signal's reason.
 */
export async function hasInterlacedFrames(
  { path, type, track }: { readonly path: string; readonly type: VideoType; readonly track: Track },
  { maxPixels, signal }: { readonly maxPixels: number; readonly signal: AbortSignal },
): Promise<boolean> {
  if (isoTypes.includes(type) && (await saysWholePictures(path, track.index))) return false;
  signal.throwIfAborted();
  const guards = [...videoGuards(type), '-max_pixels', String(maxPixels), '-threads', '1'];
  const frames = ['-select_streams', String(track.index), '-read_intervals', `%+#${framesLookedAt}`];
  const asked = ['-show_entries', 'frame=interlaced_frame', '-of', 'csv=print_section=0', '-v', 'fatal'];
  const ffprobe = ['ffprobe', ...asked, ...guards, ...frames, `file:${path}`] as const;
  const child = startInSandbox(ffprobe, limits, { reads: [path] });
  const printed = collectOutput(child);
  await inTime(limits.seconds, signal, (within) =>
    boundedEnd(child, { deadlineMs: limits.seconds * 1000, mostOutputBytes, signal: within }),
  );
  return printed()
    .stdout.split('\n')
    .some((line) => line.startsWith('1'));
}
