import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isoBox } from '@echodrop/testkit/samples/sample-iso';
import { made, samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import {
  asWindowsMedia9,
  cutBetweenKeyframes,
  turnedBy,
  withBrands,
  withChecksums,
  withCodecTag,
  withCompressedIndex,
  withLongMdat,
  withMatrix,
  withoutBrands,
  withSkeleton,
} from '@echodrop/testkit/samples/sample-video-edits';
import type { VideoType } from '../detect-media-type.ts';

export const picture = (width: number, height: number) => [
  ...['-f', 'lavfi', '-i', `testsrc2=size=${width}x${height}:rate=10:duration=0.3`],
];
export const sound = (seconds = 0.3) => ['-f', 'lavfi', '-i', `sine=duration=${seconds}`];

type Kind = Parameters<typeof sampleVideo>[0];
const made160x120 = new Map<string, Promise<Buffer>>();

/** A video of 160 x 120, with sound; the same one is made once. */
export function video(type: Kind, ...options: readonly string[]): Promise<Buffer> {
  const key = [type, ...options].join(' ');
  const known = made160x120.get(key) ?? sampleVideo(type, { width: 160, height: 120, seconds: 0.3, options });
  made160x120.set(key, known);
  return known;
}

const mute = (type: Kind, width: number, height: number, ...options: readonly string[]) =>
  sampleVideo(type, { width, height, seconds: 0.3, sound: false, options });
const oblong = (width: number, height: number) => ['-vf', `setsar=${width}/${height}`];
const yuv = (format: string) => ['-pix_fmt', format];

/** `width` and `height` are those of the record: as displayed. */
export type KnownVideo = readonly [
  name: string,
  type: VideoType,
  width: number,
  height: number,
  make: () => Promise<Buffer>,
];

/** Videos of all types that are let in, and how each is displayed. */
// biome-ignore format: a table, one row per line
export const knownVideos: readonly KnownVideo[] = [
  ['MP4', 'mp4', 160, 120, () => video('mp4')],
  ['MP4, its index first', 'mp4', 160, 120, () => video('mp4', '-movflags', '+faststart')],
  ['MP4 in fragments', 'mp4', 160, 120, () => video('mp4', '-movflags', 'frag_keyframe+empty_moov')],
  ['MP4 in fragments, as DASH and HLS have it', 'mp4', 160, 120, () => video('mp4', '-movflags', 'cmaf+dash')],
  ['MP4 in fragments of Smooth Streaming', 'mp4', 160, 120, () => video('mp4', '-f', 'ismv')],
  ['MP4 whose pictures have a size of 64 bits', 'mp4', 160, 120, async () => withLongMdat(await video('mp4'))],
  ['MP4 that begins in its middle (edit list)', 'mp4', 160, 120, () => video('mp4', '-ss', '0.1', '-bf', '2', '-x264opts', 'keyint=10')],
  ['MP4 without sound', 'mp4', 160, 120, () => mute('mp4', 160, 120)],
  ['MP4, sound first', 'mp4', 160, 120, () => made([...sound(), ...picture(160, 120), '-map', '0', '-map', '1', ...yuv('yuv420p'), '-f', 'mp4'])],
  ['MP4 whose height is no multiple of 16', 'mp4', 1920, 1080, () => mute('mp4', 1920, 1080)],
  ['MP4 with HEVC', 'mp4', 160, 120, () => video('mp4', '-c:v', 'libx265', '-x265-params', 'log-level=none')],
  ['MP4 with HEVC, as phones tag it', 'mp4', 160, 120, () => video('mp4', '-c:v', 'libx265', '-x265-params', 'log-level=none', '-tag:v', 'hvc1')],
  ['MP4 with VP9', 'mp4', 160, 120, () => video('mp4', '-c:v', 'libvpx-vp9', '-deadline', 'realtime')],
  ['MP4 with AV1', 'mp4', 160, 120, () => mute('mp4', 160, 120, '-c:v', 'libaom-av1', '-cpu-used', '8')],
  ['MP4 with MPEG-4 part 2', 'mp4', 160, 120, () => video('mp4', '-c:v', 'mpeg4')],
  ['MP4 with MPEG-2', 'mp4', 160, 120, () => video('mp4', '-c:v', 'mpeg2video')],
  ['MP4 with subtitles', 'mp4', 160, 120, () => withSubtitles()],
  ['MP4 with a JPEG for its cover', 'mp4', 160, 120, () => withCover('mjpeg', 'yuvj420p')],
  ['MP4 with a PNG for its cover', 'mp4', 160, 120, () => withCover('png', 'rgb24')],
  ['MP4 with wide pixels', 'mp4', 213, 120, () => video('mp4', ...oblong(4, 3))],
  ['MP4 with narrow pixels', 'mp4', 120, 120, () => video('mp4', ...oblong(3, 4))],
  ['MP4 with pixels of a camcorder, which come out even', 'mp4', 1024, 576, () => mute('mp4', 720, 576, ...oblong(64, 45))],
  ['MP4 turned by 90 degrees', 'mp4', 120, 160, async () => withMatrix(await video('mp4'), turnedBy[90])],
  ['MP4 turned by 180 degrees', 'mp4', 160, 120, async () => withMatrix(await video('mp4'), turnedBy[180])],
  ['MP4 turned by 270 degrees', 'mp4', 120, 160, async () => withMatrix(await video('mp4'), turnedBy[270])],
  ['MP4, mirrored', 'mp4', 160, 120, async () => withMatrix(await video('mp4'), [-1, 0, 0, 1])],
  ['MP4, upside down in a mirror', 'mp4', 160, 120, async () => withMatrix(await video('mp4'), [1, 0, 0, -1])],
  ['MP4, mirrored and turned', 'mp4', 120, 160, async () => withMatrix(await video('mp4'), [0, 1, 1, 0])],
  ['MP4, mirrored and turned the other way', 'mp4', 120, 160, async () => withMatrix(await video('mp4'), [0, -1, -1, 0])],
  ['MP4 with wide pixels, turned by 90 degrees', 'mp4', 120, 213, async () => withMatrix(await video('mp4', ...oblong(4, 3)), turnedBy[90])],
  ['MP4 with wide pixels, turned by 180 degrees', 'mp4', 213, 120, async () => withMatrix(await video('mp4', ...oblong(4, 3)), turnedBy[180])],
  ['MP4 of two videos, the second the default', 'mp4', 80, 60, () => twoVideos('mp4', 'second')],
  ['MP4 of two videos, the first the default', 'mp4', 160, 120, () => twoVideos('mp4', 'first')],
  ['M4V', 'mp4', 160, 120, () => video('mp4', '-f', 'ipod')],
  ['F4V', 'mp4', 160, 120, () => video('mp4', '-f', 'f4v')],
  ['MP4 of a PlayStation', 'mp4', 160, 120, () => video('mp4', '-f', 'psp', '-b:v', '100k')],
  ["MP4 of a camera maker's own brand", 'mp4', 160, 120, async () => withBrands(await video('mp4'), 'XAVC', 'mp42')],
  ['MP4 with a thousand boxes before its index', 'mp4', 160, 120, () => withBoxesBeforeIndex(1000)],

  ['MOV', 'mov', 160, 120, () => video('mov')],
  ['MOV of before the brands', 'mov', 160, 120, async () => withoutBrands(await video('mov'))],
  ['MOV whose index is compressed', 'mov', 160, 120, async () => withCompressedIndex(await video('mov', '-c:v', 'mjpeg', ...yuv('yuvj420p')))],
  ['MOV turned by 90 degrees', 'mov', 120, 160, async () => withMatrix(await video('mov'), turnedBy[90])],
  ['MOV with a time code', 'mov', 160, 120, () => video('mov', '-timecode', '00:00:00:00')],
  ['MOV with ProRes', 'mov', 160, 120, () => video('mov', '-c:v', 'prores', ...yuv('yuv422p10le'))],
  ['MOV with DNxHD', 'mov', 1280, 720, () => mute('mov', 1280, 720, '-c:v', 'dnxhd', ...yuv('yuv422p'), '-b:v', '90M', '-r', '25')],
  ['MOV with DV', 'mov', 788, 576, () => mute('mov', 720, 576, '-c:v', 'dvvideo', ...yuv('yuv420p'), '-r', '25', '-aspect', '788:576')],
  ['MOV with Motion JPEG', 'mov', 160, 120, () => video('mov', '-c:v', 'mjpeg', ...yuv('yuvj420p'))],
  ['MOV with Sorenson video', 'mov', 160, 120, () => video('mov', '-c:v', 'svq1', ...yuv('yuv410p'))],
  ['MOV with Cinepak', 'mov', 160, 120, () => video('mov', '-c:v', 'cinepak', ...yuv('rgb24'))],
  ['MOV with QuickTime video (rpza), by its header', 'mov', 160, 120, async () => withCodecTag(await video('mov', '-c:v', 'qtrle', ...yuv('rgb24')), 'rle ', 'rpza')],
  ['MOV with Sorenson video 3, by its header', 'mov', 160, 120, async () => withCodecTag(await video('mov', '-c:v', 'qtrle', ...yuv('rgb24')), 'rle ', 'SVQ3')],
  ['MOV with QuickTime animation', 'mov', 160, 120, () => video('mov', '-c:v', 'qtrle', ...yuv('rgb24'))],
  ['MOV with QuickTime graphics', 'mov', 160, 120, () => video('mov', '-c:v', 'smc', ...yuv('pal8'))],
  ['MOV with PNG', 'mov', 160, 120, () => video('mov', '-c:v', 'png', ...yuv('rgb24'))],
  ['MOV with CineForm', 'mov', 160, 120, () => video('mov', '-c:v', 'cfhd', ...yuv('yuv422p10le'))],
  ['MOV with Planar RGB, by its header', 'mov', 160, 120, async () => withCodecTag(await video('mov', '-c:v', 'qtrle', ...yuv('rgb24')), 'rle ', '8BPS')],
  ['MOV with H.261', 'mov', 176, 144, () => mute('mov', 176, 144, '-c:v', 'h261', '-r', '29.97', ...oblong(1, 1))],
  ['MOV with sound of phones (EVRC), by its header', 'mov', 160, 120, async () => withCodecTag(await video('mov', '-c:a', 'adpcm_ima_qt'), 'ima4', 'sevc')],
  ['MOV with sound of the nineties', 'mov', 160, 120, () => video('mov', '-c:a', 'adpcm_ima_qt')],

  ['3GP', '3gp', 160, 120, () => video('3gp')],
  ['3GP with H.263', '3gp', 176, 144, () => mute('3gp', 176, 144, '-c:v', 'h263', '-r', '29.97', ...oblong(1, 1))],
  ['3GP with H.264', '3gp', 160, 120, () => video('3gp', '-c:v', 'libx264', ...yuv('yuv420p'))],
  ['3GP turned by 270 degrees', '3gp', 120, 160, async () => withMatrix(await video('3gp'), turnedBy[270])],
  ['3G2', '3gp', 160, 120, () => video('3gp', '-f', '3g2')],

  ['WebM', 'webm', 160, 120, () => video('webm')],
  ['WebM with VP9', 'webm', 160, 120, () => video('webm', '-c:v', 'libvpx-vp9', '-deadline', 'realtime')],
  ['WebM with AV1', 'webm', 160, 120, () => mute('webm', 160, 120, '-c:v', 'libaom-av1', '-cpu-used', '8')],
  ['WebM with alpha', 'webm', 160, 120, () => mute('webm', 160, 120, ...yuv('yuva420p'), '-auto-alt-ref', '0')],
  ['WebM without sizes, as browsers record it', 'webm', 160, 120, () => video('webm', '-live', '1')],
  ['WebM with wide pixels', 'webm', 213, 120, () => video('webm', ...oblong(4, 3))],

  ['MKV', 'mkv', 160, 120, () => video('mkv')],
  ['MKV to be shown twice as wide', 'mkv', 320, 120, () => video('mkv', ...oblong(2, 1))],
  ['MKV to be shown half as wide', 'mkv', 80, 120, () => video('mkv', ...oblong(1, 2))],
  ['MKV of two videos, the second the default', 'mkv', 80, 60, () => twoVideos('matroska', 'second')],
  ['MKV, sound first', 'mkv', 160, 120, () => made([...sound(), ...picture(160, 120), '-map', '0', '-map', '1', '-c:v', 'mpeg4', '-c:a', 'aac', '-f', 'matroska'])],
  ['MKV with a font for its subtitles', 'mkv', 160, 120, () => mute('mkv', 160, 120, '-attach', import.meta.filename, '-metadata:s:t', 'mimetype=font/ttf')],
  ['MKV with fonts of 3 MiB before its pictures', 'mkv', 160, 120, () => withAttachments('font/ttf', Buffer.alloc(2 * MiB, 'font'), Buffer.alloc(MiB, 'more'))],
  ['MKV with a cover of 3 MiB before its pictures', 'mkv', 160, 120, async () => withAttachments('image/jpeg', await bigCover())],
  ['MKV with a TIFF for its cover', 'mkv', 160, 120, async () => withAttachments('image/tiff', await samplePhoto('tiff', { width: 300, height: 300 }))],
  ['MKV with FFV1 and FLAC', 'mkv', 160, 120, () => video('mkv', '-c:v', 'ffv1', '-c:a', 'flac')],

  ['AVI', 'avi', 160, 120, () => video('avi')],
  ['AVI with wide pixels', 'avi', 213, 120, () => video('avi', ...oblong(4, 3))],
  ['AVI with Xvid', 'avi', 160, 120, () => video('avi', '-c:v', 'libxvid')],
  ['AVI with DivX 3', 'avi', 160, 120, () => video('avi', '-c:v', 'msmpeg4')],
  ['AVI with MPEG-4 of Microsoft, version 2', 'avi', 160, 120, () => video('avi', '-c:v', 'msmpeg4v2')],
  ['AVI with Windows Media', 'avi', 160, 120, () => video('avi', '-c:v', 'wmv1')],
  ['AVI with Cinepak', 'avi', 160, 120, () => video('avi', '-c:v', 'cinepak', ...yuv('rgb24'))],
  ['AVI with Microsoft Video 1', 'avi', 160, 120, () => video('avi', '-c:v', 'msvideo1', ...yuv('rgb555le'))],
  ['AVI with Motion JPEG, as cameras made it', 'avi', 160, 120, () => video('avi', '-c:v', 'mjpeg', ...yuv('yuvj422p'), '-c:a', 'pcm_u8')],
  ['AVI with Indeo 3, by its header', 'avi', 160, 120, async () => withCodecTag(await video('avi', '-c:v', 'mjpeg', ...yuv('yuvj422p')), 'MJPG', 'IV32')],
  ['AVI with Indeo 5, by its header', 'avi', 160, 120, async () => withCodecTag(await video('avi', '-c:v', 'mjpeg', ...yuv('yuvj422p')), 'MJPG', 'IV50')],
  ['AVI with H.264', 'avi', 160, 120, () => video('avi', '-c:v', 'libx264', ...yuv('yuv420p'))],
  ['AVI with H.263', 'avi', 176, 144, () => mute('avi', 176, 144, '-c:v', 'h263', '-r', '29.97', ...oblong(1, 1))],
  ['AVI with HuffYUV', 'avi', 160, 120, () => video('avi', '-c:v', 'huffyuv', ...yuv('yuv422p'))],
  ['AVI with DV', 'avi', 788, 576, () => mute('avi', 720, 576, '-c:v', 'dvvideo', ...yuv('yuv420p'), '-r', '25', '-aspect', '788:576')],
  ['AVI without compression', 'avi', 160, 120, () => video('avi', '-c:v', 'rawvideo', ...yuv('bgr24'), '-c:a', 'pcm_s16le')],
  ['AVI, sound first', 'avi', 160, 120, () => made([...sound(), ...picture(160, 120), '-map', '0', '-map', '1', '-c:v', 'mpeg4', '-f', 'avi'])],

  ['MPEG-2', 'mpg', 160, 120, () => video('mpg')],
  ['MPEG-2 of a DVD', 'mpg', 1024, 576, () => sampleVideo('mpg', { width: 720, height: 576, seconds: 0.3, options: ['-aspect', '16:9', '-f', 'dvd'] })],
  ['MPEG-2 of a Super Video CD', 'mpg', 768, 576, () => sampleVideo('mpg', { width: 480, height: 576, seconds: 0.3, options: ['-aspect', '4:3', '-f', 'svcd'] })],
  ['MPEG-1', 'mpg', 160, 120, () => video('mpg', '-c:v', 'mpeg1video', '-f', 'mpeg')],
  ['MPEG-1 of a Video CD', 'mpg', 352, 288, () => sampleVideo('mpg', { width: 352, height: 288, seconds: 0.3, options: ['-c:v', 'mpeg1video', '-f', 'vcd'] })],
  ['MPEG-1, pictures alone', 'mpg', 160, 120, () => mute('mpg', 160, 120, '-c:v', 'mpeg1video', '-f', 'mpeg1video')],
  ['MPEG-2, pictures alone, wide pixels', 'mpg', 1024, 576, () => mute('mpg', 720, 576, '-aspect', '16:9', '-f', 'mpeg2video')],
  ['MPEG, two seconds of sound first', 'mpg', 160, 120, () => made([...sound(3), '-itsoffset', '2', ...picture(160, 120), '-map', '0', '-map', '1', '-c:v', 'mpeg2video', '-r', '25', '-c:a', 'mp2', '-f', 'vob'])],
  ['MPEG-2, begun between keyframes', 'mpg', 160, 120, async () => cutBetweenKeyframes(await lateKeyframe(...mpeg2, '-f', 'vob'), 2048)],

  ['TS', 'ts', 160, 120, () => video('ts')],
  ['TS with HEVC', 'ts', 160, 120, () => video('ts', '-c:v', 'libx265', '-x265-params', 'log-level=none')],
  ['TS with MPEG-2', 'ts', 160, 120, () => video('ts', '-c:v', 'mpeg2video', '-r', '25', '-c:a', 'mp2')],
  ['TS with sound of broadcasters (S302M)', 'ts', 160, 120, () => video('ts', '-c:a', 's302m', '-strict', '-2', '-ac', '2', '-ar', '48000')],
  ['TS with wide pixels', 'ts', 213, 120, () => video('ts', ...oblong(4, 3))],
  ["TS of a camera's (M2TS)", 'ts', 160, 120, () => video('ts', '-mpegts_m2ts_mode', '1')],
  ['TS with H.264, begun between keyframes', 'ts', 160, 120, async () => cutBetweenKeyframes(await lateKeyframe(...h264, '-f', 'mpegts'), 188)],
  ['TS with MPEG-2, begun between keyframes', 'ts', 160, 120, async () => cutBetweenKeyframes(await lateKeyframe(...mpeg2, '-f', 'mpegts'), 188)],
  ['TS that begins within a packet', 'ts', 160, 120, async () => (await video('ts')).subarray(100)],
  ['TS with checksums', 'ts', 160, 120, async () => withChecksums(await video('ts'))],

  ['OGV', 'ogv', 160, 120, () => video('ogv')],
  ['OGV whose sides are no multiples of 16', 'ogv', 178, 98, () => mute('ogv', 178, 98)],
  ['OGV with a skeleton', 'ogv', 160, 120, async () => withSkeleton(await video('ogv'))],
  ['OGV with wide pixels', 'ogv', 213, 120, () => video('ogv', ...oblong(4, 3))],
  ['OGV with VP8', 'ogv', 160, 120, () => video('ogv', '-c:v', 'libvpx', '-deadline', 'realtime')],
  ['OGV whose first picture has more than a MiB', 'ogv', 1280, 960, () => large('ogv')],

  ['FLV', 'flv', 160, 120, () => video('flv')],
  ['FLV with H.264', 'flv', 160, 120, () => video('flv', '-c:v', 'libx264', ...yuv('yuv420p'), '-c:a', 'aac')],
  ['FLV without sound', 'flv', 160, 120, () => mute('flv', 160, 120)],
  ['FLV whose first picture has more than a MiB', 'flv', 1280, 960, () => large('flv')],
  ['FLV with H.264 whose first picture has more than a MiB', 'flv', 1280, 960, () => large('flv', '-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '1', ...yuv('yuv420p'))],
  ['FLV, 1.6 MiB of sound before its pictures', 'flv', 160, 120, () => made([...sound(20), '-itsoffset', '19', ...picture(160, 120), '-map', '0', '-map', '1', '-c:v', 'flv', '-c:a', 'pcm_s16le', '-ar', '44100', '-f', 'flv'])],

  ['WMV', 'wmv', 160, 120, () => video('wmv')],
  ['WMV of Windows Media 7', 'wmv', 160, 120, () => video('wmv', '-c:v', 'wmv1', '-c:a', 'wmav1')],
  ['WMV of Windows Media 9, by its header', 'wmv', 160, 120, async () => asWindowsMedia9(await video('wmv'))],
  ['WMV with MPEG-4 of Microsoft', 'wmv', 160, 120, () => video('wmv', '-c:v', 'msmpeg4')],
];

function twoVideos(format: string, standard: 'first' | 'second'): Promise<Buffer> {
  const dispositions = standard === 'first' ? ['default', '0'] : ['0', 'default'];
  const chosen = dispositions.flatMap((disposition, n) => [`-disposition:v:${n}`, disposition]);
  const inputs = [...picture(160, 120), ...picture(80, 60), '-map', '0', '-map', '1'];
  return made([...inputs, '-c:v', 'mpeg4', ...chosen, '-f', format]);
}

/** Its pictures keep their offsets. */
async function withBoxesBeforeIndex(boxes: number): Promise<Buffer> {
  const bytes = await video('mp4');
  const index = bytes.indexOf('moov') - 4;
  const free = Array.from({ length: boxes }, () => isoBox('free', Buffer.alloc(8)));
  return Buffer.concat([bytes.subarray(0, index), ...free, bytes.subarray(index)]);
}

function withCover(codec: string, pixelFormat: string): Promise<Buffer> {
  const inputs = [...picture(160, 120), ...picture(300, 300), '-map', '0', '-map', '1', '-frames:v:1', '1'];
  const coding = ['-c:v:0', 'mpeg4', '-c:v:1', codec, '-pix_fmt:v:1', pixelFormat];
  return made([...inputs, ...coding, '-disposition:v:1', 'attached_pic', '-f', 'mp4']);
}

const MiB = 2 ** 20;

async function withAttachments(kind: string, ...contents: readonly Buffer[]): Promise<Buffer> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'known-videos-'));
  const paths = contents.map((_, n) => join(folder.path, String(n)));
  await Promise.all(paths.map((path, n) => writeFile(path, contents[n] ?? '')));
  const attached = paths.flatMap((path, n) => ['-attach', path, `-metadata:s:${n + 1}`, `mimetype=${kind}`]);
  return await mute('mkv', 160, 120, ...attached);
}

async function bigCover(): Promise<Buffer> {
  return Buffer.concat([await samplePhoto('jpg', { width: 300, height: 300 }), Buffer.alloc(3 * MiB)]);
}

const h264 = [
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '1', '-g', '60', '-keyint_min', '60'],
  ...yuv('yuv420p'),
];
const mpeg2 = ['-c:v', 'mpeg2video', '-qscale:v', '1', '-g', '60', '-sc_threshold', '1000000000', ...yuv('yuv420p')];

/** Noise, which is hard to code, with a keyframe at its beginning and another after two seconds and more than a MiB. */
function lateKeyframe(...coding: readonly string[]): Promise<Buffer> {
  const noise = 'nullsrc=size=160x120:rate=25:duration=2.6,noise=alls=100:allf=t';
  return made(['-f', 'lavfi', '-i', noise, ...coding]);
}

/** Noise of which a picture takes some MiB. */
function large(type: Kind, ...coding: readonly string[]): Promise<Buffer> {
  const noise = ['-vf', 'noise=alls=100:allf=t', '-q:v', type === 'ogv' ? '10' : '1'];
  return sampleVideo(type, { width: 1280, height: 960, seconds: 0.2, sound: false, options: [...noise, ...coding] });
}

function withSubtitles(): Promise<Buffer> {
  const subtitles = 'data:text/plain,1%0A00:00:00,000%20--%3E%2000:00:01,000%0Ahello%0A';
  return made([...picture(160, 120), '-f', 'srt', '-i', subtitles, '-c:v', 'mpeg4', '-c:s', 'mov_text', '-f', 'mp4']);
}
