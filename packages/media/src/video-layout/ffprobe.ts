import { dirname } from 'node:path';
import { z } from 'zod';
import type { VideoType } from '../detect-media-type.ts';
import { inspectFile } from '../input/inspect-file.ts';
import type { UnsupportedReason } from '../outcomes.ts';
import { parseToolJson, runTool, ToolStopped } from '../sandbox/run-tool.ts';
import { requireSource } from '../sandbox/tool-disk.ts';
import { probeLimits } from '../sandbox/tool-limits.ts';
import { readContainerColours } from './container-colours.ts';
import { hideOtherTracks } from './hide-tracks.ts';
import { createSparseCopy } from './sparse-copy.ts';
import { maxTracks, videoGuards } from './video-codecs.ts';
import { withContainerColours } from './video-colours.ts';

/** A track of a video, as coded: before rotation, in pixels that need not be square. */
export type Track = ReturnType<typeof toTrack>;

// Of tags, only the one with which ffprobe reports alpha in VP8 and VP9: titles may be long.
const entries = [
  'stream=index,codec_type,codec_name,pix_fmt,color_space,color_primaries,color_transfer,color_range,field_order,channels,width,height,sample_aspect_ratio,avg_frame_rate,start_time,duration',
  'stream_disposition=default,attached_pic',
  'stream_side_data=rotation',
  'stream_tags=alpha_mode',
  'format=nb_streams,duration',
  'format_tags=',
].join(':');

const name = z.string().max(100).default('');
const side = z.int32().nonnegative().default(0);
const flag = z.literal([0, 1]).default(0);

const outputShape = z.object({
  streams: z
    .array(
      z.object({
        index: z.int32().nonnegative(),
        codec_type: name,
        codec_name: name,
        pix_fmt: name,
        color_space: name,
        color_primaries: name,
        color_transfer: name,
        color_range: name,
        field_order: name,
        channels: side,
        width: side,
        height: side,
        sample_aspect_ratio: name,
        avg_frame_rate: name,
        start_time: name,
        duration: name,
        tags: z.object({ alpha_mode: name }).prefault({}),
        disposition: z.object({ default: flag, attached_pic: flag }).prefault({}),
        side_data_list: z.array(z.object({ rotation: z.number().optional() })).default([]),
      }),
    )
    .max(maxTracks),
  format: z.object({ duration: name }).prefault({}),
});

/**
 * Reads the tracks of the video at `path` with ffprobe, which may open no other file. If ffprobe fails because of another track
 * than a picture, that has no codec in the result.
 * @throws ToolFailed if ffprobe is missing or passes its deadline, or the video is gone; the reason of `signal`; or an Error of
 * the disk, as it may create a temporary file in the folder of the video
 */
export async function videoTracks(
  path: string,
  type: VideoType,
  signal: AbortSignal,
): Promise<readonly Track[] | UnsupportedReason> {
  const tracks = await readTracksOrHide(path, type, signal);
  if (typeof tracks === 'string') return tracks;
  const colours = await inspectFile(path, (reader) => readContainerColours(reader, type));
  return tracks.map((track) => ({ ...track, ...withContainerColours(track, colours[track.index]) }));
}

async function readTracksOrHide(
  path: string,
  type: VideoType,
  signal: AbortSignal,
): Promise<readonly Track[] | UnsupportedReason> {
  const tracks = await readTracks(path, type, signal);
  if (tracks !== 'broken' && tracks !== 'codec') return tracks;
  await using copy = await inspectFile(path, (reader) => createSparseCopy(reader, type, dirname(path)));
  if (copy.outcome !== 'copied' || !(await hideOtherTracks(copy.path, type))) return tracks;
  return await readTracks(copy.path, type, signal);
}

async function readTracks(
  path: string,
  type: VideoType,
  signal: AbortSignal,
): Promise<readonly Track[] | UnsupportedReason> {
  signal.throwIfAborted();
  const query = ['-v', 'error', '-show_entries', entries, '-of', 'json'];
  const ffprobe = ['ffprobe', ...query, ...headerOnly, ...videoGuards(type), `file:${path}`] as const;
  const { end, stdout, stderr } = await runTool(ffprobe, probeLimits, { signal, reads: [path] });
  const output = end === 'done' ? parseToolJson(stdout, outputShape) : undefined;
  if (output) return output.streams.map((stream) => toTrack(stream, type, output.format.duration));
  await requireSource(path, 'ffprobe');
  if (end === 'timed_out') throw new ToolStopped(`ffprobe timed out after ${probeLimits.seconds} s`);
  if (end === 'done') return 'broken';
  return end === 'broken' && stderr.includes('not on whitelist') ? 'codec' : end;
}

// The guards of some types override these.
const headerOnly = [...['-probesize', String(1024 * 1024)], ...['-analyzeduration', '0'], ...['-threads', '1']];

type Stream = z.infer<typeof outputShape>['streams'][number];

// Names are in ffprobe's notation, and empty if unknown; numbers are 0 if unknown.
function toTrack(stream: Stream, type: VideoType, videoDuration: string) {
  return {
    /** ffprobe's stream index, from 0. */
    index: stream.index,
    kind: stream.codec_type === 'video' ? 'video' : stream.codec_type === 'audio' ? 'sound' : 'other',
    codec: stream.codec_name,
    pixelFormat: stream.pix_fmt,
    hasAlpha: hasAlpha(stream, type),
    /** Colours, as stated: matrix coefficients, primaries and transfer characteristics. */
    matrix: stream.color_space,
    primaries: stream.color_primaries,
    transfer: stream.color_transfer,
    /** `tv` (limited) or `pc` (full). */
    range: stream.color_range,
    /** `progressive`, `tt` and others. */
    fieldOrder: stream.field_order,
    /** The number of channels of sound. */
    channels: stream.channels,
    width: stream.width,
    height: stream.height,
    /** Frames per second. */
    frameRate: parseRatio(stream.avg_frame_rate, /^(\d{1,10})\/(\d{1,10})$/) ?? 0,
    /** When its first picture or sound is shown; before 0 if edits of a fragmented video hide it. */
    startSeconds: parseStart(stream.start_time),
    /** The duration in seconds. */
    seconds: parseDuration(stream.duration) || parseDuration(videoDuration),
    /** Width of a pixel divided by its height. */
    pixelAspect: parseRatio(stream.sample_aspect_ratio, /^(\d{1,10}):(\d{1,10})$/) ?? 1,
    /** Degrees, a multiple of 90 in all but odd videos. */
    rotation: parseRotation(stream.side_data_list),
    isDefault: stream.disposition.default === 1,
    /** The cover of a sound file, which ffprobe lists as a video. */
    isCover: stream.disposition.attached_pic === 1,
  } as const;
}

// ffprobe prints the smallest integer for a matrix that is no rotation.
function parseRotation(sideData: readonly { readonly rotation?: number | undefined }[]): number {
  const rotation = sideData.findLast((each) => each.rotation !== undefined)?.rotation ?? 0;
  return Math.abs(rotation) <= 360 ? rotation : 0;
}

// ffprobe prints "0:1" or "N/A" for an unknown ratio.
function parseRatio(text: string, shape: RegExp): number | undefined {
  const [, one = 0, other = 0] = shape.exec(text)?.map(Number) ?? [];
  return one > 0 && other > 0 ? one / other : undefined;
}

// Times are in seconds. A live recording has no duration.
function parseDuration(text: string): number {
  return /^\d{1,10}(\.\d{1,9})?$/.test(text) ? Number(text) : 0;
}

function parseStart(text: string): number {
  return /^-?\d{1,10}(\.\d{1,9})?$/.test(text) ? Number(text) : 0;
}

// AVI does not state alpha, and programs leave 0 there; the codecs of such files may be in another container by now.
function hasAlpha({ codec_name: codec, pix_fmt: format, tags }: Stream, type: VideoType): boolean {
  if (type === 'avi' || codec === 'huffyuv' || (codec === 'rawvideo' && type !== 'mov')) return false;
  return tags.alpha_mode === '1' || isAlphaFormat(format);
}

// ffmpeg's names of pixel formats. Entries of a palette have alpha.
function isAlphaFormat(name: string): boolean {
  return /^(yuva|gbrap|ya\d|rgba|bgra|argb|abgr|ayuv|vuya|pal8)/.test(name);
}
