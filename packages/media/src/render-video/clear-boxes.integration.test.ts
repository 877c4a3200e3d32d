import { readFile } from 'node:fs/promises';
import { ftyp, isoBox, u32 } from '@echodrop/testkit/samples/sample-iso';
import { made } from '@echodrop/testkit/samples/sample-media';
import { h264Entry, iccProfile, withBoxesIn } from '@echodrop/testkit/samples/sample-video-edits';
import { expect, test } from 'vitest';
import { mediaFile } from '../media-file.fixture.ts';
import { firstPicture, videoMade } from '../rendered.fixture.ts';
import { clearOtherBoxes } from './clear-boxes.ts';

const mark = 'Mark-4711';
const picture = ['-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=25:duration=1'];
const tone = ['-f', 'lavfi', '-i', 'sine=duration=1'];
const x264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '2'];
const [copied, transcoded] = ['yuv420p', 'yuv444p'].map((format) => [...x264, '-pix_fmt', format]) as [
  string[],
  string[],
];
const bt709 = 'setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709';

const text = (length: number) => Buffer.from(mark.repeat(20).slice(0, length));
const full = (...parts: readonly Buffer[]) => Buffer.concat([Buffer.alloc(4), ...parts]);
const profile = (kind: string) => isoBox('colr', Buffer.from(kind), iccProfile(mark));
const numbers = isoBox('colr', Buffer.from('nclx'), Buffer.from([0, 1, 0, 1, 0, 1, 0]));
const spherical = Buffer.from(
  `<rdf:SphericalVideo><GSpherical:Spherical>true</GSpherical:Spherical><GSpherical:StitchingSoftware>${mark}</GSpherical:StitchingSoftware></rdf:SphericalVideo>`,
);
const sphericalId = Buffer.from('ffcc8263f8554a938814587a02521fdd', 'hex');
const keys = isoBox('keys', full(u32(1), isoBox('mdta', Buffer.from('com.apple.quicktime.make'))));
const made4711 = isoBox('ilst', isoBox('\0\0\0\x01', isoBox('data', u32(1, 0), text(9))));
const inTrack = ['moov', 'trak'];

// What ffmpeg reads as side data of a stream, by its releases from 5.1 to 9.0, and other boxes of cameras.
// biome-ignore format: a table, one row per line
const additions: readonly (readonly [kind: string, path: readonly string[], ...boxes: Buffer[]])[] = [
  ['an ICC profile', h264Entry, profile('prof')],
  ['a restricted ICC profile', h264Entry, profile('rICC')],
  ['colours by numbers, then a profile', h264Entry, numbers, profile('prof')],
  ['a profile, then colours by numbers', h264Entry, profile('prof'), numbers],
  ['a stereo mode', h264Entry, isoBox('st3d', full(Buffer.from([1]), text(9)))],
  ['a sphere', h264Entry, isoBox('sv3d', isoBox('svhd', full(text(9), Buffer.alloc(1))), isoBox('proj', isoBox('prhd', full(text(12))), isoBox('equi', full(text(16)))))],
  ['a sphere in XML', inTrack, isoBox('uuid', sphericalId, spherical)],
  ['both eyes', h264Entry, isoBox('vexu', isoBox('eyes', isoBox('stri', full(Buffer.from([3]))), isoBox('cams', isoBox('blin', full(text(4)))))), isoBox('hfov', text(4))],
  ['the display of its mastering', h264Entry, isoBox('mdcv', text(24))],
  ['light levels', h264Entry, isoBox('clli', text(4))],
  ['the surroundings', h264Entry, isoBox('amve', text(8))],
  ['Dolby Vision', h264Entry, isoBox('dvcC', Buffer.from([1, 0, 10, 0x2d, 0x90]), text(19))],
  ['a clean aperture', h264Entry, isoBox('clap', text(32))],
  ['a gamma', h264Entry, isoBox('gama', text(4))],
  ['bit rates', h264Entry, isoBox('btrt', text(12))],
  ['a box of its maker', h264Entry, isoBox('ACME', text(9))],
  ['a name of its track', inTrack, isoBox('udta', isoBox('name', text(9)), isoBox('titl', full(Buffer.alloc(2), text(9))), isoBox('kind', full(text(9), Buffer.alloc(2))))],
  ['tags of its track', inTrack, isoBox('meta', isoBox('hdlr', full(Buffer.from('\0\0\0\0mdta'), Buffer.alloc(13))), keys, made4711)],
];
const original = made([...picture, ...tone, ...copied, '-f', 'mp4']);

test.concurrent.each(additions.map(([kind, path, ...boxes]) => [kind, path, boxes] as const))(
  'a copy of a video with %s has only boxes that players need',
  async (_, path, boxes) => {
    const marked = withBoxesIn(withTextsInHeaders(await original), path, ...boxes);
    expect(marked.includes('Mark')).toBe(true);
    const { video } = await videoMade('mp4', marked);
    expect(video.includes(firstPicture(marked))).toBe(true);
    expectOnlyNeeded(video);
  },
);

test.each([
  ['mov', ['-f', 'mov']],
  ['mkv', ['-f', 'matroska']],
  ['flv', ['-f', 'flv']],
  ['ts', ['-f', 'mpegts']],
] as const)('a copy of a video in %s has only boxes that players need', async (type, coding) => {
  const plain = await made([...picture, ...tone, ...copied, '-f', 'mov']);
  const values = [isoBox('mdcv', text(24)), isoBox('clli', text(4)), profile('prof')];
  await using file = await mediaFile(withBoxesIn(plain, h264Entry, ...values));
  const { video, source } = await videoMade(type, await made(['-i', file.path, '-c', 'copy', ...coding]));
  expect(source).toMatchObject({ picture: { codec: 'h264' }, sounds: [{ codec: 'aac' }] });
  expect(video.includes(firstPicture(plain))).toBe(true);
  expectOnlyNeeded(video);
});

test('a transcoded video has only boxes that players need', async () => {
  const plain = await made([...picture, ...tone, ...transcoded, '-f', 'mp4']);
  const values = ['mdcv', 'clli', 'amve'].map((type, n) => isoBox(type, text([24, 4, 8][n] ?? 0)));
  const { video } = await videoMade('mp4', withBoxesIn(plain, h264Entry, ...values, profile('prof')));
  expect(boxesOf(video).map(({ path }) => path)).toContain('moov/trak/mdia/minf/stbl/stsd/avc1/colr');
  expectOnlyNeeded(video);
});

test.each(['mp4', 'mov'] as const)(
  'a copy keeps the colours that a %s states by numbers, and the shape of its pixels',
  async (format) => {
    const plain = await made([...picture, '-vf', `setsar=4/3,${bt709}`, ...copied, '-f', format]);
    const { video, tracks, source } = await videoMade(format, plain);
    expect(video.includes(firstPicture(plain))).toBe(true);
    const colours = boxesOf(video).find(({ path }) => path.endsWith('/colr'));
    expect(colours?.content.toString('hex')).toBe(`${Buffer.from('nclx').toString('hex')}00010001000100`);
    const { pixelAspect, matrix } = source.picture;
    expect(tracks).toMatchObject([{ pixelAspect, matrix }]);
    expect(tracks).toMatchObject([{ pixelAspect: 4 / 3, matrix: 'bt709' }]);
  },
);

test('a large profile is cleared to its end', async () => {
  const plain = await made([...picture, ...copied, '-f', 'mp4']);
  const { video } = await videoMade(
    'mp4',
    withBoxesIn(plain, h264Entry, isoBox('colr', Buffer.from('prof'), iccProfile(mark), Buffer.alloc(300_000, mark))),
  );
  expect(video.length).toBeGreaterThan(300_000);
  expectOnlyNeeded(video);
});

test.each([
  ['bytes after the last box', Buffer.from('Mark')],
  ['a box that ends beyond the file', Buffer.concat([u32(100), Buffer.from('free')])],
  ['thousands of boxes', Buffer.alloc(8 * 2000, isoBox('free'))],
  ['bytes within its index', isoBox('moov', Buffer.from('Mark'))],
  [
    'a sample entry without its fields',
    isoBox(
      'moov',
      isoBox('trak', isoBox('mdia', isoBox('minf', isoBox('stbl', isoBox('stsd', u32(0, 1), isoBox('avc1')))))),
    ),
  ],
])('%s in a file of ffmpeg is refused', async (_, rest) => {
  const bytes = Buffer.concat([ftyp('isom', 'isom'), rest]);
  await using file = await mediaFile(bytes);
  await expect(clearOtherBoxes(file.path)).rejects.toThrow('wrong_format');
  expect((await readFile(file.path)).equals(bytes)).toBe(true);
});

/** With texts in the fields of headers that have room for them: when it was made, and what made it. */
function withTextsInHeaders(video: Buffer): Buffer {
  const marked = Buffer.from(video);
  const index = marked.lastIndexOf('moov');
  for (const type of ['mvhd', 'tkhd', 'mdhd']) marked.write('Mark', marked.indexOf(type, index) + 8, 'latin1');
  marked.write(`\x09${mark}`, marked.indexOf('avc1', index) + 4 + 42, 'latin1');
  marked.write(mark, marked.indexOf('VideoHandler', index), 'latin1');
  return marked;
}

// From ISO/IEC 14496-12 and 14496-15, apart from the program's own table.
const table = 'moov/trak/mdia/minf/stbl';
const needed = [
  ...['ftyp', 'mdat', 'moov', 'moov/mvhd', 'moov/trak', 'moov/trak/tkhd', 'moov/trak/edts', 'moov/trak/edts/elst'],
  ...['', '/mdhd', '/hdlr', '/minf', '/minf/vmhd', '/minf/smhd', '/minf/dinf'].map((inner) => `moov/trak/mdia${inner}`),
  ...['', '/stts', '/stss', '/ctts', '/stsc', '/stsz', '/stco', '/sgpd', '/sbgp'].map((inner) => `${table}${inner}`),
  ...['', '/avc1', '/avc1/avcC', '/avc1/colr', '/avc1/pasp', '/avc1/btrt'].map((inner) => `${table}/stsd${inner}`),
  ...['/mp4a', '/mp4a/esds', '/mp4a/btrt'].map((inner) => `${table}/stsd${inner}`),
];
const fieldBytes: Readonly<Record<string, number>> = { stsd: 8, avc1: 78, mp4a: 28 };
const withBoxes = ['moov', 'trak', 'edts', 'mdia', 'minf', 'stbl', ...Object.keys(fieldBytes)];

function boxesOf(bytes: Buffer, within = ''): { readonly path: string; readonly content: Buffer }[] {
  if (bytes.length === 0) return [];
  const size = bytes.readUInt32BE(0);
  const type = bytes.toString('latin1', 4, 8);
  const path = `${within}${type}`;
  const content = bytes.subarray(8, size);
  const inner = withBoxes.includes(type) ? boxesOf(content.subarray(fieldBytes[type] ?? 0), `${path}/`) : [];
  return [{ path, content }, ...inner, ...boxesOf(bytes.subarray(size), within)];
}

function expectOnlyNeeded(video: Buffer): void {
  const boxes = boxesOf(video);
  expect(boxes.map(({ path }) => path).filter((path) => !needed.includes(path) && !path.endsWith('free'))).toEqual([]);
  const textsOf = (type: string, from: number, to?: number) =>
    boxes.filter(({ path }) => path.endsWith(type)).map(({ content }) => content.toString('latin1', from, to));
  const compressors = ['', '\x0cLavc libx264'].map((name) => name.padEnd(32, '\0'));
  for (const text of textsOf('free', 0)) expect(text).toBe('\0'.repeat(text.length));
  for (const text of textsOf('/colr', 0, 4)) expect(text).toBe('nclx');
  for (const times of ['mvhd', 'tkhd', 'mdhd'].flatMap((type) => textsOf(type, 4, 12)))
    expect(times).toBe('\0'.repeat(8));
  for (const compressor of textsOf('/avc1', 42, 74)) expect(compressors).toContain(compressor);
  for (const handler of textsOf('/hdlr', 24)) expect(['VideoHandler\0', 'SoundHandler\0']).toContain(handler);
  for (const piece of ['Mark', '4711', 'acsp']) expect({ piece, at: video.indexOf(piece) }).toEqual({ piece, at: -1 });
}
