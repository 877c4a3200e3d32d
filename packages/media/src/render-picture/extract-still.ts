import type { RenditionReason } from '../outcomes.ts';
import { colourAttempts } from '../render-video/colour-filters.ts';
import { decodedSize, posterSize } from '../rendition-size.ts';
import { addressBytesOf } from '../sandbox/address-space.ts';
import { runFfmpeg } from '../sandbox/ffmpeg.ts';
import { type TimedEnd, withDeadline } from '../sandbox/run-tool.ts';
import { maxOutputBytes } from '../sandbox/tool-output.ts';
import { type LocalVideo, videoTracks } from '../video-layout/ffprobe.ts';
import { deinterlaceFilters } from '../video-layout/interlaced.ts';
import { displayedSize, pictureTrack } from '../video-layout/probe-video.ts';
import { decoderOptions, videoGuards } from '../video-layout/video-codecs.ts';
import { toColourCodes } from '../video-layout/video-colours.ts';
import { startOptions } from '../video-layout/video-edits.ts';
import type { PictureSource, ProcessBudget } from './picture-job.ts';

interface StillOptions extends ProcessBudget {
  readonly maxPixels: number;
  readonly signal: AbortSignal;
}

export interface FrameOptions extends StillOptions {
  /** Whether the whole picture is needed. */
  readonly isWhole: boolean;
  /** Whether the video is an AVIF or HEIC sequence, of which the first picture is needed. */
  readonly isSequence?: boolean;
}

const limits = { seconds: 120, cpuSeconds: 60, addressBytes: addressBytesOf.ffmpeg, fileBytes: maxOutputBytes.picture };
// The first frame is often black, so the most representative of the first second is used. Compares every nth pixel only:
// holding and comparing whole frames costs as much as decoding them. streamselect passes nothing until both its inputs have
// begun, which for the selected frame is its own time: so the first frame that comes out is that one in full size (of frames
// with the same time, one of them).
const representativeFrame =
  'split[whole][small];[small]scale=320:180:flags=neighbor,thumbnail=n=24[chosen];[chosen][whole]streamselect=inputs=2:map=1';

/** Writes a frame of a video's beginning to `png`, upright and with square pixels; no larger than `isWhole` requires. */
export async function extractVideoFrame(
  video: LocalVideo,
  png: string,
  { isWhole, isSequence = false, ...options }: FrameOptions,
): Promise<PictureSource | RenditionReason> {
  const { path, type, tracks = await videoTracks(path, type, options.signal) } = video;
  if (typeof tracks === 'string') return tracks;
  const track = pictureTrack(tracks);
  if (typeof track === 'string') return track;
  const displayed = displayedSize(track);
  const whole = isSequence ? displayed : posterSize(displayed);
  const { width, height } = isWhole ? whole : decodedSize(whole);
  const selection = isSequence ? [] : [...deinterlaceFilters(track), representativeFrame];
  const scale = `scale=${width}:${height}:flags=lanczos+accurate_rnd+full_chroma_int`;
  const input = [...videoGuards(type), ...decoderOptions(track), ...startOptions(type, track), '-i', `file:${path}`];
  for (const { statement, mapping, colours } of colourAttempts(track)) {
    const graph = [statement, ...selection, ...mapping, scale, 'format=rgb24', 'setsar=1'].join(',');
    const end = await writePng(input, ['-filter_complex', `[0:${track.index}]${graph}`], png, options);
    if (end === 'done') return { path: png, type: 'png', whole, codes: toColourCodes(colours) };
    if (end !== 'broken') return end;
  }
  return 'broken';
}

/** Writes a BMP, which sharp does not read, to `png`. */
export async function extractBitmap(
  path: string,
  png: string,
  options: StillOptions,
): Promise<PictureSource | RenditionReason> {
  const guards = ['-protocol_whitelist', 'file', '-format_whitelist', 'bmp_pipe', '-codec_whitelist', 'bmp'];
  const end = await writePng([...guards, '-f', 'bmp_pipe', '-i', `file:${path}`], [], png, options);
  return end === 'done' ? { path: png, type: 'png' } : end;
}

function writePng(
  input: readonly string[],
  graph: readonly string[],
  png: string,
  { maxPixels, signal, niceness, seconds = limits.seconds, cpuSeconds = limits.cpuSeconds }: StillOptions,
): Promise<TimedEnd> {
  // A temporary file: its size does not matter.
  const coding = ['-c:v', 'png', '-compression_level', '1', '-f', 'image2', `file:${png}`];
  const output = [...graph, '-frames:v', '1', '-map_metadata', '-1', ...coding];
  // More threads would decode frames that are not used.
  const args = { input: ['-threads', '1', ...input], output };
  const ffmpegLimits = { ...limits, seconds, cpuSeconds, maxPixels, niceness };
  return withDeadline(seconds, signal, (signal) => runFfmpeg(args, ffmpegLimits, signal));
}
