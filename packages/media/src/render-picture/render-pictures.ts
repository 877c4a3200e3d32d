import { join } from 'node:path';
import { inspectFile } from '../input/inspect-file.ts';
import { type RenditionReason, unsupported } from '../outcomes.ts';
import { readHeif } from '../photo-size/heif-size.ts';
import { decodedSize, posterSize } from '../rendition-size.ts';
import { runFfmpeg } from '../sandbox/ffmpeg.ts';
import { maxOutputBytes, type ToolBudget } from '../sandbox/tool-limits.ts';
import { openToolOutput } from '../sandbox/tool-output.ts';
import type { Size } from '../size.ts';
import { colourAttempts } from '../video-layout/colour-filters.ts';
import { deinterlaceFilters } from '../video-layout/interlaced.ts';
import { displayedSize, isVideo, type LocalMedia, type LocalVideo, readVideo } from '../video-layout/read-video.ts';
import { toColourCodes } from '../video-layout/video-colours.ts';
import { ffmpegInput } from '../video-layout/video-edits.ts';
import type { PictureSource, PictureToMake } from './picture-job.ts';
import { makePictures, type PicturesMade } from './picture-process.ts';

export interface PictureOptions {
  readonly maxPixels: number;
  readonly signal: AbortSignal;
  /** The folder for a still, which the caller removes. */
  readonly scratchDir: string;
  /** The budget of ffmpeg, which makes a still of media that sharp does not read. */
  readonly stillBudget: ToolBudget;
  /** The budget of the process that makes pictures. */
  readonly budget: ToolBudget;
  /** Canvas times frames of an animation; one of more is `too_costly`. */
  readonly animationPixels?: number | undefined;
}

/**
 * Makes pictures of a photo, or of the beginning of a video, each at the path given with its recipe: upright, sRGB and
 * without metadata. If one cannot be made the others are, and the result is `unsupported`.
 * @throws if rendering broke down: no disk space, a tool missing or killed, `signal` aborted; OutputRefused if ffmpeg left
 * something other than a PNG
 */
export async function renderPictures(
  media: LocalMedia,
  pictures: readonly PictureToMake[],
  options: PictureOptions,
): Promise<PicturesMade> {
  const { budget, maxPixels, animationPixels, signal } = options;
  const needsWhole = pictures.some(({ recipe }) => recipe.size === 'whole');
  const source = await extractStill(media, needsWhole, options);
  if (typeof source === 'string') return { rendered: unsupported(source), made: [] };
  return makePictures({ source, pictures, maxPixels, animationPixels }, budget, signal);
}

/**
 * The photo itself, or a PNG that ffmpeg makes if only ffmpeg reads the media.
 * @throws OutputRefused
 */
export async function extractStill(
  media: LocalMedia,
  needsWhole: boolean,
  options: PictureOptions,
): Promise<PictureSource | RenditionReason> {
  if (isVideo(media)) return extractPoster(media, needsWhole, options);
  const { path, type } = media;
  if (type === 'bmp') return extractBitmap(path, options);
  if (type !== 'avif' && type !== 'heic') return media;
  const displayed = await inspectFile(path, (reader) => readHeif(reader, type));
  if (typeof displayed === 'string') return displayed;
  if (displayed.obstacle) return displayed.obstacle;
  if (!displayed.isTrack) return media;
  const sequence = await readVideo(path, 'mp4', options.signal);
  if (typeof sequence === 'string') return sequence;
  const whole = displayedSize(sequence.picture);
  return extractFrame(sequence, { whole, decoded: whole, selection: [] }, options);
}

// The first frame is often black, so the most representative of the first second is used. Compares every nth pixel only:
// holding and comparing whole frames costs as much as decoding them. streamselect outputs nothing until both inputs have begun.
// The small input begins at the chosen frame's time, so the first frame out is the chosen one in full size (if several have
// that time, one of them).
const representativeFrame =
  'split[whole][small];[small]scale=320:180:flags=neighbor,thumbnail=n=24[chosen];[chosen][whole]streamselect=inputs=2:map=1';

// A poster is extracted from the beginning of a video, and is no larger than `needsWhole` requires.
function extractPoster(video: LocalVideo, needsWhole: boolean, options: PictureOptions) {
  const whole = posterSize(displayedSize(video.picture));
  const selection = [...deinterlaceFilters(video.picture), representativeFrame];
  return extractFrame(video, { whole, decoded: needsWhole ? whole : decodedSize(whole), selection }, options);
}

interface Frame {
  /** The size of the whole picture. */
  readonly whole: Size;
  /** The size of the PNG. */
  readonly decoded: Size;
  /** Filters that choose the frame; the first one unless given. */
  readonly selection: readonly string[];
}

// The PNG has one frame, upright and with square pixels.
async function extractFrame(
  video: LocalVideo,
  { whole, decoded, selection }: Frame,
  options: PictureOptions,
): Promise<PictureSource | RenditionReason> {
  const { picture } = video;
  const scale = `scale=${decoded.width}:${decoded.height}:flags=lanczos+accurate_rnd+full_chroma_int`;
  for (const { statement, mapping, colours } of colourAttempts(picture)) {
    const graph = [statement, ...selection, ...mapping, scale, 'format=rgb24', 'setsar=1'].join(',');
    const still = await makeStill(ffmpegInput(video), ['-filter_complex', `[0:${picture.index}]${graph}`], options);
    if (typeof still !== 'string') return { ...still, whole, codes: toColourCodes(colours) };
    if (still !== 'broken') return still;
  }
  return 'broken';
}

// sharp reads no BMP.
function extractBitmap(path: string, options: PictureOptions): Promise<PictureSource | RenditionReason> {
  const guards = ['-protocol_whitelist', 'file', '-format_whitelist', 'bmp_pipe', '-codec_whitelist', 'bmp'];
  return makeStill([...guards, '-f', 'bmp_pipe', '-i', `file:${path}`], [], options);
}

async function makeStill(
  input: readonly string[],
  graph: readonly string[],
  { maxPixels, signal, stillBudget, scratchDir }: PictureOptions,
): Promise<PictureSource | RenditionReason> {
  const path = join(scratchDir, 'still.png');
  // The PNG is a temporary file: its size does not matter.
  const coding = ['-c:v', 'png', '-compression_level', '1', '-f', 'image2', `file:${path}`];
  const output = [...graph, '-frames:v', '1', '-map_metadata', '-1', ...coding];
  const limits = { ...stillBudget, fileBytes: maxOutputBytes.picture, maxPixels };
  // More threads would decode frames that are not used.
  const end = await runFfmpeg({ input: ['-threads', '1', ...input], output }, limits, signal);
  if (end !== 'done') return end;
  await using _ = await openToolOutput(path, 'png');
  return { path, type: 'png' };
}
