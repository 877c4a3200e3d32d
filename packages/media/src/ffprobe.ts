import { fileURLToPath } from 'node:url';
import ffmpeg, { type FfprobeData } from 'fluent-ffmpeg';
import { boundedEnd, processStartedBy } from './bounded-process.ts';
import { filmGuards } from './film-codecs.ts';
import type { VideoType } from './media-type.ts';
import type { UnsupportedReason } from './unsupported.ts';
import { toolNamespaces } from './within-limits.ts';

/** A track of a film, as coded: before rotation, in pixels that need not be square. */
export interface Track {
  /** Its place in the film, from 0. */
  readonly index: number;
  readonly kind: 'video' | 'sound' | 'other';
  /** ffprobe's name of the codec. */
  readonly codec: string;
  readonly pixelFormat: string;
  /** ffprobe's name of the transfer characteristics; empty where the film does not say. */
  readonly transfer: string;
  readonly width: number;
  readonly height: number;
  /** Width of a pixel by its height. */
  readonly pixelAspect: number;
  /** Degrees, a multiple of 90 in all but odd films. */
  readonly rotation: number;
  readonly isDefault: boolean;
  /** The cover of a sound file, which ffprobe lists among the films. */
  readonly isCover: boolean;
}

const launcher = fileURLToPath(new URL('ffprobe-within-limits', import.meta.url));

// Only what is asked for, and no tag: a title with line breaks could otherwise write lines of its own into the
// answer.
const entries = [
  'stream=index,codec_type,codec_name,pix_fmt,color_transfer,width,height,sample_aspect_ratio',
  'stream_disposition=default,attached_pic',
  'stream_side_data=rotation',
  'stream_tags=',
  'format=nb_streams',
  'format_tags=',
].join(':');

const deadlineMs = 10_000;
const mostOutputBytes = 256 * 1024;

/**
 * The tracks of the film at `path`, by ffprobe, which may open that file alone. The only place that knows fluent-
 * ffmpeg, which has neither a timeout nor a kill (archived; TRAPS): it is bounded from outside, by the launcher that
 * it is told to start and by boundedEnd.
 *
 * Rejects with ToolFailed where ffprobe is missing or not done in time, or with the signal's reason.
 */
export async function filmTracks(
  path: string,
  type: VideoType,
  signal: AbortSignal,
): Promise<readonly Track[] | UnsupportedReason> {
  const namespaces = await toolNamespaces();
  signal.throwIfAborted();
  ffmpeg.setFfprobePath(launcher);
  const options = [namespaces, '-v', 'error', '-show_entries', entries, ...lookGuards, ...filmGuards(type)];
  const answer = Promise.withResolvers<FfprobeData>();
  const child = processStartedBy(() =>
    ffmpeg.ffprobe(`file:${path}`, options, (error, data) => (error ? answer.reject(error) : answer.resolve(data))),
  );
  const complaint = answer.promise.then(
    () => '',
    (error: Error) => error.message,
  );
  const end = await boundedEnd(child, { deadlineMs, mostOutputBytes, signal });
  if (end === 'done') return (await answer.promise).streams.map((stream) => trackOf(stream));
  return end === 'broken' && (await complaint).includes('not on whitelist') ? 'codec' : end;
}

// How far a look may go unless the film's guards say otherwise: a header tells all that we ask for.
const lookGuards = [...['-probesize', String(1024 * 1024)], ...['-analyzeduration', '0'], ...['-threads', '1']];

function trackOf(stream: Record<string, unknown>): Track {
  const disposition = (stream.disposition ?? {}) as Record<string, unknown>;
  return {
    index: wholeNumber(stream.index),
    kind: stream.codec_type === 'video' ? 'video' : stream.codec_type === 'audio' ? 'sound' : 'other',
    codec: String(stream.codec_name ?? ''),
    pixelFormat: String(stream.pix_fmt ?? ''),
    transfer: String(stream.color_transfer ?? ''),
    width: wholeNumber(stream.width),
    height: wholeNumber(stream.height),
    pixelAspect: ratio(String(stream.sample_aspect_ratio ?? '')),
    rotation: Number(stream.rotation ?? 0) || 0,
    isDefault: disposition.default === 1,
    isCover: disposition.attached_pic === 1,
  };
}

function wholeNumber(value: unknown): number {
  const number = Number(value ?? 0);
  return Number.isSafeInteger(number) ? number : 0;
}

// "0:1" and "N/A" mean that nobody knows: square.
function ratio(text: string): number {
  const [width = 0, height = 0] = text.split(':').map(Number);
  return width > 0 && height > 0 ? width / height : 1;
}
