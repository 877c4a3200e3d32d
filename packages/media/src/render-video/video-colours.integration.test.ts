import { made } from '@echodrop/testkit/samples/sample-media';
import { execa } from 'execa';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { VideoType } from '../detect-media-type.ts';
import { mediaFile } from '../media-file.fixture.ts';
import { drawnPictures, videoMade } from '../rendered.fixture.ts';
import type { Track } from '../video-layout/ffprobe.ts';

type Colour = readonly number[];
type Stated = Pick<Track, 'matrix' | 'primaries' | 'transfer' | 'range'>;

const red = [200, 60, 40];
/** What these numbers of BT.2020 and of SMPTE 170M are in sRGB, by their chromaticities (computed with NumPy). */
const bt2020Red = [247, 0, 23];
const ntscRed = [195, 66, 39];

/** The luma of BT.601: 0.299 * 200 + 0.587 * 60 + 0.114 * 40. */
const grey = [100, 100, 100];

// Lines decide about untagged colours, and a narrow picture takes less time.
const hd = '320x720';
const sd = '320x240';
const bt709 = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709', range: 'tv' };
const bt601 = { ...bt709, matrix: 'smpte170m' };
// A copy keeps what the stream states.
const nothing = { matrix: expect.stringMatching(/^(unknown)?$/) };

const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '1'];
const yuv = (matrix: string, range: string, format: string) =>
  `format=gbrp,scale=out_color_matrix=${matrix}:out_range=${range},format=${format}`;
const tagged = (matrix: string, primaries: string, transfer: string, range = 'tv') =>
  `setparams=colorspace=${matrix}:color_primaries=${primaries}:color_trc=${transfer}:range=${range}`;
const unstated = tagged('unknown', 'unknown', 'unknown', 'unknown');

const hevcWithoutRange = [
  ...['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none:qp=4'],
  ...[
    '-bsf:v',
    'hevc_metadata=video_full_range_flag=0:colour_primaries=2:transfer_characteristics=2:matrix_coefficients=2',
  ],
  ...['-color_range', 'pc', '-colorspace', 'smpte170m', '-color_primaries', 'bt709', '-color_trc', 'bt709'],
];

type Row = readonly [
  name: string,
  type: VideoType,
  size: string,
  filter: string,
  coding: readonly string[],
  stated: { [K in keyof Stated]?: unknown },
  /** Of pictures, if the video has other primaries than sRGB. */
  poster: Colour,
];

// biome-ignore format: a table, one row per line
const rows: readonly Row[] = [
  ['H.264 of 720 lines without tags', 'mp4', hd, `${yuv('bt709', 'tv', 'yuv420p')},${unstated}`, [...x264, '-f', 'mp4'], nothing, red],
  ['H.264 of 240 lines without tags', 'mp4', sd, `${yuv('bt601', 'tv', 'yuv420p')},${unstated}`, [...x264, '-f', 'mp4'], nothing, red],
  ['H.264 of 4:4:4 and 720 lines without tags', 'mp4', hd, `${yuv('bt709', 'tv', 'yuv444p')},${unstated}`, [...x264, '-f', 'mp4'], bt709, red],
  ['H.264 of 4:4:4 and 240 lines without tags', 'mkv', sd, `${yuv('bt601', 'tv', 'yuv444p')},${unstated}`, [...x264, '-f', 'matroska'], bt601, red],
  ['VP9 of 720 lines without tags', 'webm', hd, `${yuv('bt709', 'tv', 'yuv420p')},${unstated}`, ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-f', 'webm'], bt709, red],
  ['MPEG-2 of 720 lines without tags', 'ts', hd, `${yuv('bt709', 'tv', 'yuv420p')},${unstated}`, ['-c:v', 'mpeg2video', '-q:v', '2', '-f', 'mpegts'], bt709, red],
  ['MPEG-4 of 720 lines without tags', 'avi', hd, `${yuv('bt709', 'tv', 'yuv420p')},${unstated}`, ['-c:v', 'mpeg4', '-q:v', '2', '-f', 'avi'], bt709, red],
  ['ProRes of 720 lines without tags', 'mov', hd, `${yuv('bt709', 'tv', 'yuv422p10le')},${unstated}`, ['-c:v', 'prores_ks', '-f', 'mov'], bt709, red],
  ['Motion JPEG, which is of full range and BT.601 at any size', 'mov', hd, yuv('bt601', 'pc', 'yuvj420p'), ['-c:v', 'mjpeg', '-q:v', '2', '-f', 'mov'], { ...bt709, matrix: 'bt470bg' }, red],
  ['H.264 of full range', 'mp4', hd, `${yuv('bt709', 'pc', 'yuvj420p')},${tagged('bt709', 'bt709', 'bt709', 'pc')}`, [...x264, '-f', 'mp4'], { ...bt709, range: 'pc' }, red],
  ['VP9 of full range', 'webm', hd, `${yuv('bt709', 'pc', 'yuv420p')},${tagged('bt709', 'bt709', 'bt709', 'pc')}`, ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-f', 'webm'], bt709, red],
  ['HEVC of full range and 10 bits', 'mp4', hd, `${yuv('bt709', 'pc', 'yuv420p10le')},${tagged('bt709', 'bt709', 'bt709', 'pc')}`, ['-c:v', 'libx265', '-x265-params', 'log-level=none:range=full:colormatrix=bt709', '-preset', 'ultrafast', '-f', 'mp4'], bt709, red],
  ['HEVC whose full range only MP4 states', 'mp4', sd, yuv('bt601', 'pc', 'yuv420p'), [...hevcWithoutRange, '-f', 'mp4'], bt601, red],
  ['H.264 of limited range in MP4 of full range', 'mp4', hd, `${yuv('bt709', 'tv', 'yuv444p')},${tagged('bt709', 'bt709', 'bt709')}`, [...x264, '-bsf:v', 'h264_metadata=video_full_range_flag=0', '-color_range', 'pc', '-f', 'mp4'], bt709, red],
  ['HEVC whose full range only Matroska states', 'mkv', sd, yuv('bt601', 'pc', 'yuv420p'), [...hevcWithoutRange, '-f', 'matroska'], bt601, red],
  ['grey', 'mkv', sd, 'format=gray', ['-c:v', 'ffv1', '-f', 'matroska'], bt601, grey],
  ['QuickTime Animation', 'mov', hd, 'format=rgb24', ['-c:v', 'qtrle', '-f', 'mov'], bt709, red],
  ['PNG', 'mov', sd, 'format=rgb24', ['-c:v', 'png', '-f', 'mov'], bt709, red],
  ['FFV1 of RGB', 'mkv', sd, 'format=bgr0', ['-c:v', 'ffv1', '-f', 'matroska'], bt709, red],
  ['FFV1 of RGB and 10 bits', 'mkv', sd, 'format=gbrp10le', ['-c:v', 'ffv1', '-f', 'matroska'], bt709, red],
  ['H.264 of RGB', 'mp4', sd, 'format=rgb24', ['-c:v', 'libx264rgb', '-preset', 'ultrafast', '-qp', '1', '-f', 'mp4'], bt709, red],
  ['uncompressed RGB', 'avi', sd, 'format=bgr24', ['-c:v', 'rawvideo', '-f', 'avi'], bt709, red],
  ['HuffYUV of RGB', 'avi', sd, 'format=bgra', ['-c:v', 'huffyuv', '-f', 'avi'], bt709, red],
  ['a palette', 'mov', sd, 'split[a][b];[a]palettegen[p];[b][p]paletteuse', ['-c:v', 'png', '-f', 'mov'], bt709, red],
  ['BT.601 in 720 lines', 'mkv', hd, `${yuv('bt601', 'tv', 'yuv444p')},${tagged('smpte170m', 'bt709', 'bt709')}`, [...x264, '-f', 'matroska'], bt601, red],
  ['SMPTE 240M', 'mkv', sd, `${yuv('smpte240m', 'tv', 'yuv444p')},${tagged('smpte240m', 'bt709', 'smpte240m')}`, [...x264, '-f', 'matroska'], { ...bt709, transfer: 'smpte240m' }, red],
  ['YCgCo', 'mkv', sd, `format=gbrp,zscale=matrix=ycgco:range=tv,format=yuv444p,${tagged('ycgco', 'bt709', 'bt709')}`, [...x264, '-f', 'matroska'], bt709, red],
  ['primaries of BT.709 and no matrix, in 240 lines', 'mkv', sd, `${yuv('bt709', 'tv', 'yuv444p')},${tagged('unknown', 'bt709', 'bt709')}`, [...x264, '-f', 'matroska'], bt709, red],
  ['BT.2020 of normal range', 'mkv', hd, `${yuv('bt2020', 'tv', 'yuv420p10le')},${tagged('bt2020nc', 'bt2020', 'bt2020-10')}`, [...x264, '-f', 'matroska'], { ...bt709, matrix: 'bt2020nc', primaries: 'bt2020', transfer: 'bt2020-10' }, bt2020Red],
  ['primaries of SMPTE 170M', 'mkv', sd, `${yuv('bt601', 'tv', 'yuv444p')},${tagged('smpte170m', 'smpte170m', 'smpte170m')}`, [...x264, '-f', 'matroska'], { ...bt601, primaries: 'smpte170m', transfer: 'smpte170m' }, ntscRed],
];

test.concurrent.each(rows)('%s (%s): video of 8 bits and 4:2:0 and pictures have the right colour', async (...row) => {
  const [, type, size, filter, coding, stated, poster] = row;
  const input = ['-f', 'lavfi', '-i', `color=0xC83C28:size=${size}:rate=10:duration=0.3`];
  const graph = filter.includes('[') ? ['-filter_complex', `[0]${filter}`] : ['-vf', filter];
  const bytes = await made([...input, ...graph, ...coding]);
  const track = await expectColours(type, bytes, poster === grey ? grey : red, poster);
  expect(track).toMatchObject({ codec: 'h264', pixelFormat: expect.stringMatching(/^yuvj?420p$/), ...stated });
});

/** Makes the video and all pictures. Returns what the video states. */
async function expectColours(type: VideoType, bytes: Buffer, ofVideo: Colour, ofPictures = ofVideo) {
  const { tracks, video } = await videoMade(type, bytes);
  const [track] = tracks;
  expectColour('video', await shownColour(video, track), ofVideo);
  const { end, pictures } = await drawnPictures(type, bytes);
  expect(end).toEqual({ outcome: 'made' });
  for (const [name, picture] of pictures) {
    const { channels } = await sharp(picture).stats();
    const means = channels.map(({ mean }) => Math.round(mean));
    expectColour(name, means, ofPictures);
  }
  return track;
}

function expectColour(name: string, found: Colour, expected: Colour): void {
  const farthest = Math.max(...expected.map((value, n) => Math.abs(value - (found[n] ?? Number.NaN))));
  expect(farthest, `${name}: ${found}, not ${expected}`).toBeLessThanOrEqual(5);
}

// The numbers of red, green and blue that a browser computes: without tags, 720 lines or more are BT.709, less BT.601.
async function shownColour(video: Buffer, track: Track | undefined): Promise<Colour> {
  await using file = await mediaFile(video);
  const stated = { bt709: 'bt709', smpte170m: 'bt601', bt470bg: 'bt601', bt2020nc: 'bt2020' }[track?.matrix ?? ''];
  const matrix = stated ?? ((track?.height ?? 0) >= 720 ? 'bt709' : 'bt601');
  const output = ['-frames:v', '1', '-vf', `scale=in_color_matrix=${matrix},format=rgb24`, '-f', 'rawvideo', 'pipe:1'];
  const { stdout } = await execa('ffmpeg', ['-v', 'error', '-i', file.path, ...output], { encoding: 'buffer' });
  return [...stdout.subarray(0, 3)];
}

// Half transparent (128 of 255), on white.
const paleRed = [227, 157, 147];
const paleGrey = [177, 177, 177];
const vpx = ['-deadline', 'realtime', '-cpu-used', '8', '-b:v', '2M', '-auto-alt-ref', '0', '-f', 'webm'];

// biome-ignore format: a table, one row per line
test.concurrent.each<[string, VideoType, string, readonly string[], Colour]>([
  ['QuickTime Animation', 'mov', 'format=argb', ['-c:v', 'qtrle', '-f', 'mov'], paleRed],
  ['PNG', 'mov', 'format=rgba', ['-c:v', 'png', '-f', 'mov'], paleRed],
  ['PNG of 16 bits', 'mov', 'format=rgba64be', ['-c:v', 'png', '-f', 'mov'], paleRed],
  ['uncompressed', 'mov', 'format=argb', ['-c:v', 'rawvideo', '-f', 'mov'], paleRed],
  ['ProRes', 'mov', 'scale=out_color_matrix=bt601,format=yuva444p10le', ['-c:v', 'prores_ks', '-f', 'mov'], paleRed],
  ['FFV1', 'mkv', 'scale=out_color_matrix=bt601,format=yuva420p', ['-c:v', 'ffv1', '-f', 'matroska'], paleRed],
  ['FFV1 of RGB', 'mkv', 'format=bgra', ['-c:v', 'ffv1', '-f', 'matroska'], paleRed],
  ['FFV1 of RGB and 16 bits', 'mkv', 'format=gbrap16le', ['-c:v', 'ffv1', '-f', 'matroska'], paleRed],
  ['FFV1 of grey', 'mkv', 'format=ya8', ['-c:v', 'ffv1', '-f', 'matroska'], paleGrey],
  ['VP8', 'webm', 'scale=out_color_matrix=bt601,format=yuva420p', ['-c:v', 'libvpx', ...vpx], paleRed],
  ['VP9', 'webm', 'scale=out_color_matrix=bt601,format=yuva420p', ['-c:v', 'libvpx-vp9', ...vpx], paleRed],
  ['VP9', 'mkv', 'scale=out_color_matrix=bt601,format=yuva420p', ['-c:v', 'libvpx-vp9', ...vpx, '-f', 'matroska'], paleRed],
  ['32 bits in AVI, whose last 8 often are 0', 'avi', 'format=bgra,colorchannelmixer=aa=0', ['-c:v', 'huffyuv', '-f', 'avi'], red],
  ['32 bits of AVI in Matroska', 'mkv', 'format=bgra,colorchannelmixer=aa=0', ['-c:v', 'huffyuv', '-f', 'matroska'], red],
  ['32 bits of AVI without a codec in Matroska', 'mkv', 'format=bgra,colorchannelmixer=aa=0', ['-c:v', 'rawvideo', '-allow_raw_vfw', '1', '-f', 'matroska'], red],
])('half transparent, %s (%s): video and pictures are on white', async (_, type, filter, coding, expected) => {
  const input = ['-f', 'lavfi', '-i', 'color=0xC83C28@0.502:size=320x240:rate=10:duration=0.3,format=rgba'];
  const bytes = await made([...input, '-vf', filter, ...coding]);
  await expectColours(type, bytes, expected);
});

// A grey of 128 as PQ, with one reference white (203 cd/m2) for both.
const pq = 'zscale=tin=bt709:pin=bt709:min=bt709:t=smpte2084:p=bt2020:m=bt2020nc:npl=203,format=yuv420p10le';
const x265 = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'];
const hdrTags = ['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'];
const withoutHdrInStream = [
  '-bsf:v',
  'hevc_metadata=transfer_characteristics=2:colour_primaries=2:matrix_coefficients=2',
];
const partly = (colours: string) => ['-vf', `${pq},setparams=${colours}`];

// biome-ignore format: a table, one row per line
test.concurrent.each<[string, VideoType, readonly string[]]>([
  ['with all tags', 'mp4', ['-vf', pq, ...x265, ...hdrTags, '-f', 'mp4']],
  ['without primaries', 'mp4', [...partly('color_primaries=unknown'), ...x265, '-f', 'mp4']],
  ['without primaries and matrix', 'mp4', [...partly('color_primaries=unknown:colorspace=unknown'), ...x265, '-f', 'mp4']],
  ['that only the container states, in MP4', 'mp4', ['-vf', pq, ...x265, ...hdrTags, ...withoutHdrInStream, '-f', 'mp4']],
  ['that only the container states, in QuickTime', 'mov', ['-vf', pq, ...x265, ...hdrTags, ...withoutHdrInStream, '-f', 'mov']],
  ['that only the container states, in Matroska', 'mkv', ['-vf', pq, ...x265, ...hdrTags, ...withoutHdrInStream, '-f', 'matroska']],
  ['that only the container can state', 'webm', ['-vf', pq, '-c:v', 'libvpx-vp9', '-deadline', 'realtime', ...hdrTags, '-f', 'webm']],
  ['in AV1', 'mkv', ['-vf', pq, '-c:v', 'libaom-av1', '-cpu-used', '8', ...hdrTags, '-f', 'matroska']],
  ['in H.264 of 8 bits', 'mp4', ['-vf', `${pq},format=yuv420p`, ...x264, ...hdrTags, '-f', 'mp4']],
])('a high dynamic range %s (%s) is tone-mapped', async (_, type, coding) => {
  const bytes = await made(['-f', 'lavfi', '-i', 'color=0x808080:size=320x240:rate=10:duration=0.3', ...coding]);
  expect(await expectColours(type, bytes, [128, 128, 128])).toMatchObject(bt709);
});
