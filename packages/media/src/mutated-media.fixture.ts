import { type Edit, edited, edits } from '@echodrop/testkit/fuzz/edited-bytes';
import { hostilePhotos } from '@echodrop/testkit/hostile/hostile-photos';
import { heif } from '@echodrop/testkit/samples/sample-heif';
import { made, samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import fc from 'fast-check';

/** Media as a fuzzer prints it: the name of a sample, and how it is changed. */
export interface MutatedMedia {
  readonly sample: string;
  readonly changes: readonly Edit[];
}

type Samples = Readonly<Record<string, () => Buffer | Promise<Buffer>>>;

const size = { width: 64, height: 48 };
const animation = ['-f', 'lavfi', '-i', 'testsrc2=size=64x48:rate=5:duration=1'];
const photoTypes = ['jpg', 'png', 'gif', 'webp', 'avif', 'tiff', 'bmp'] as const;
const videoTypes = ['mp4', 'mov', '3gp', 'webm', 'mkv', 'avi', 'mpg', 'ts', 'ogv', 'flv', 'wmv'] as const;
// A comment of zeros hides no header.
const isSmall = (name: string) => !/MiB|MB|100,000|100 KB|thousand|hundred|comments only|scans|10,000/.test(name);

export const photoSamples: Samples = {
  ...Object.fromEntries(photoTypes.map((type) => [type, () => samplePhoto(type, size)])),
  'animated gif': () => made([...animation, '-f', 'gif']),
  'animated webp': () => made([...animation, '-c:v', 'libwebp_anim', '-f', 'webp']),
  heic: () => heif({ coding: 'hevc', brands: ['heic'], ...size, quarterTurns: 1, orientation: 6 }),
  'avif of tiles': () => heif({ coding: 'av1', brands: ['avif'], ...size, tiles: { columns: 2, rows: 2 } }),
  ...Object.fromEntries(
    hostilePhotos.filter(({ name }) => isSmall(name)).map(({ name, make }) => [name, photoOf(make)]),
  ),
};

export const videoSamples: Samples = Object.fromEntries(
  videoTypes.map((type) => [type, () => sampleVideo(type, { width: 64, height: 48, seconds: 0.3 })]),
);

/** Samples with up to eight changes. `tokens` are words of their formats. */
export function mutated(samples: Samples): fc.Arbitrary<MutatedMedia> {
  return fc.record({ sample: fc.constantFrom(...Object.keys(samples)), changes: edits(8, tokens) });
}

const tokens = [
  ...['\xff\xd8\xff\xc0', '\xff\xd9', 'IHDR', 'IDAT', 'acTL', 'GIF89a', 'VP8X', 'VP8L', 'Exif\0\0', 'II*\0'],
  ...['ftyp', 'meta', 'ipco', 'iprp', 'irot', 'ispe', 'moov', 'trak', 'mdat', 'tkhd', 'elst', 'stsd', 'RIFF', 'LIST'],
  ...['\x1a\x45\xdf\xa3', 'OggS', 'FLV\x01', '\0\0\x01\xba', '\x47'],
];

const originals = new Map<string, Promise<Buffer>>();

/** The bytes of mutated media. */
export async function bytesOf(samples: Samples, { sample, changes }: MutatedMedia): Promise<Buffer> {
  const original = originals.get(sample) ?? Promise.resolve(samples[sample]?.() ?? Buffer.alloc(0));
  originals.set(sample, original);
  return edited(await original, changes);
}

function photoOf(make: (typeof hostilePhotos)[number]['make']) {
  return () => make({ file: '/nowhere', address: 'http://127.0.0.1:1' });
}
