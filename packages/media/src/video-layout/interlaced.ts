import { runTool } from '../sandbox/run-tool.ts';
import { frameProbeLimits } from '../sandbox/tool-limits.ts';
import type { Track } from './ffprobe.ts';
import type { LocalVideo } from './read-video.ts';
import { isoTypes, videoGuards } from './video-codecs.ts';

// bwdif needs at least so many pixels on a side.
const minSide = 4;

/**
 * The ffmpeg filter that deinterlaces frames marked as interlaced, which show combs on screens wherever something moves. It
 * must precede filters that scale or mix lines.
 */
export function deinterlaceFilters({ width, height }: Track): readonly string[] {
  return Math.min(width, height) < minSide ? [] : ['bwdif=mode=send_frame:deint=interlaced'];
}

const inspectedFrames = 24;

/**
 * Whether one of an H.264 track's first frames is marked as interlaced. ffmpeg itself writes Matroska files that declare
 * interlaced pictures `progressive`, so frames are decoded. In an MP4, ffprobe reads the field order from H.264.
 * @throws ToolFailed if ffprobe is missing or killed, or the reason of `signal`
 */
export async function hasInterlacedFrames(
  { path, type, picture }: LocalVideo,
  { maxPixels, signal }: { readonly maxPixels: number; readonly signal: AbortSignal },
): Promise<boolean> {
  if (isoTypes.includes(type) && picture.fieldOrder === 'progressive') return false;
  signal.throwIfAborted();
  const guards = [...videoGuards(type), '-max_pixels', String(maxPixels), '-threads', '1'];
  const frames = ['-select_streams', String(picture.index), '-read_intervals', `%+#${inspectedFrames}`];
  const query = ['-show_entries', 'frame=interlaced_frame', '-of', 'csv=print_section=0', '-v', 'fatal'];
  const ffprobe = ['ffprobe', ...query, ...guards, ...frames, `file:${path}`] as const;
  const { stdout } = await runTool(ffprobe, frameProbeLimits, { signal, reads: [path] });
  return stdout.split('\n').some((line) => line.startsWith('1'));
}
