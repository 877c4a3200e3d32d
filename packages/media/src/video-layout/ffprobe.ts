import { z } from 'zod';
import type { VideoType } from '../media-type.ts';
import { boundedEnd } from '../sandbox/bounded-process.ts';
import { startInSandbox, type ToolLimits } from '../sandbox/sandbox.ts';
import { collectOutput, parseAnswer } from '../sandbox/tool-answer.ts';
import { requireSource } from '../sandbox/tool-disk.ts';
import type { UnsupportedReason } from '../unsupported.ts';
import { mostStreams, videoGuards } from './video-codecs.ts';

/** A track of a video, as coded: before rotation, in pixels that need not be square. */
export interface Track {
  /** Its place in the video, from 0. */
  readonly index: number;
  readonly kind: 'video' | 'sound' | 'other';
  /** ffprobe's name of the codec. */
  readonly codec: string;
  readonly pixelFormat: string;
  /** ffprobe's name of the transfer characteristics; empty where the video does not say. */
  readonly transfer: string;
  readonly width: number;
  readonly height: number;
  /** Frames in a second; 0 if unknown. */
  readonly frameRate: number;
  /** How long it plays; 0 if unknown. */
  readonly seconds: number;
  /** Width of a pixel by its height. */
  readonly pixelAspect: number;
  /** Degrees, a multiple of 90 in all but odd videos. */
  readonly rotation: number;
  readonly isDefault: boolean;
  /** The cover of a sound file, which ffprobe lists among the videos. */
  readonly isCover: boolean;
}

// Only what is asked for, and no tag: a title with line breaks could otherwise write lines of its own into the
// answer.
const entries = [
  'stream=index,codec_type,codec_name,pix_fmt,color_transfer,width,height,sample_aspect_ratio,avg_frame_rate,duration',
  'stream_disposition=default,attached_pic',
  'stream_side_data=rotation',
  'stream_tags=',
  'format=nb_streams,duration',
  'format_tags=',
].join(':');

// An honest look takes 50 ms of processor time and 60 MiB.
const limits: ToolLimits = { seconds: 10, cpuSeconds: 3, addressBytes: 1024 ** 3, fileBytes: 0 };
const mostOutputBytes = 256 * 1024;

const name = z.string().max(100).default('');
const side = z.int32().nonnegative().default(0);
const flag = z.literal([0, 1]).default(0);

const answerShape = z.object({
  streams: z
    .array(
      z.object({
        index: z.int32().nonnegative(),
        codec_type: name,
        codec_name: name,
        pix_fmt: name,
        color_transfer: name,
        width: side,
        height: side,
        sample_aspect_ratio: name,
        avg_frame_rate: name,
        duration: name,
        disposition: z.object({ default: flag, attached_pic: flag }).prefault({}),
        side_data_list: z.array(z.object({ rotation: z.number().optional() })).default([]),
      }),
    )
    .max(mostStreams),
  format: z.object({ duration: name }).prefault({}),
});

/**
 * The tracks of the video at `path`, by ffprobe, which may open that file alone.
 *
 * Rejects with ToolFailed where ffprobe is missing or not done in time, or the video is gone, or with the signal's reason.
 */
export async function videoTracks(
  path: string,
  type: VideoType,
  signal: AbortSignal,
): Promise<readonly Track[] | UnsupportedReason> {
  signal.throwIfAborted();
  const asked = ['-v', 'error', '-show_entries', entries, '-of', 'json'];
  const ffprobe = ['ffprobe', ...asked, ...lookGuards, ...videoGuards(type), `file:${path}`] as const;
  const child = startInSandbox(ffprobe, limits, { reads: [path] });
  const printed = collectOutput(child);
  const end = await boundedEnd(child, { deadlineMs: limits.seconds * 1000, mostOutputBytes, signal });
  const { stdout, stderr } = printed();
  if (end === 'done') {
    const answer = parseAnswer(stdout, answerShape);
    if (answer) return answer.streams.map((stream) => trackOf(stream, answer.format.duration));
  }
  await requireSource(path, 'ffprobe');
  if (end === 'done') return 'broken';
  return end === 'broken' && stderr.includes('not on whitelist') ? 'codec' : end;
}

// How far a look may go unless the video's guards say otherwise: a header tells all that we ask for.
const lookGuards = [...['-probesize', String(1024 * 1024)], ...['-analyzeduration', '0'], ...['-threads', '1']];

function trackOf(stream: z.infer<typeof answerShape>['streams'][number], videoDuration: string): Track {
  return {
    index: stream.index,
    kind: stream.codec_type === 'video' ? 'video' : stream.codec_type === 'audio' ? 'sound' : 'other',
    codec: stream.codec_name,
    pixelFormat: stream.pix_fmt,
    transfer: stream.color_transfer,
    width: stream.width,
    height: stream.height,
    frameRate: ratio(stream.avg_frame_rate, /^(\d{1,10})\/(\d{1,10})$/) ?? 0,
    seconds: duration(stream.duration) || duration(videoDuration),
    pixelAspect: ratio(stream.sample_aspect_ratio, /^(\d{1,10}):(\d{1,10})$/) ?? 1,
    rotation: rotationOf(stream.side_data_list),
    isDefault: stream.disposition.default === 1,
    isCover: stream.disposition.attached_pic === 1,
  };
}

// A matrix that is no rotation comes out as the least number that an integer can be.
function rotationOf(sideData: readonly { readonly rotation?: number | undefined }[]): number {
  const rotation = sideData.findLast((each) => each.rotation !== undefined)?.rotation ?? 0;
  return Math.abs(rotation) <= 360 ? rotation : 0;
}

// "0:1" and "N/A" mean that nobody knows.
function ratio(text: string, shape: RegExp): number | undefined {
  const [, one = 0, other = 0] = shape.exec(text)?.map(Number) ?? [];
  return one > 0 && other > 0 ? one / other : undefined;
}

// Seconds; a live recording has none.
function duration(text: string): number {
  return /^\d{1,10}(\.\d{1,9})?$/.test(text) ? Number(text) : 0;
}
