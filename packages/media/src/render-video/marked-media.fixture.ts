import { animatedWebp } from '@echodrop/testkit/samples/sample-animation';
import { exif, jpegWithExif, segment } from '@echodrop/testkit/samples/sample-exif';
import { heif } from '@echodrop/testkit/samples/sample-heif';
import { isoBox } from '@echodrop/testkit/samples/sample-iso';
import { made, samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { pngChunk, pngWithChunks } from '@echodrop/testkit/samples/sample-png';
import sharp, { type Sharp } from 'sharp';
import type { PhotoType } from '../detect-media-type.ts';

/** The mark in every place of media that could reveal who took it. */
export const mark = 'Mark-4711-Here';

const size = { width: 160, height: 120 };
const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:creator="${mark}"/></rdf:RDF></x:xmpmeta>`;
const behind = Buffer.from(`<html>${mark}</html>`);
const notes = {
  IFD0: { ImageDescription: mark, Artist: mark, Make: mark, Copyright: mark },
  IFD2: { UserComment: mark, MakerNote: mark, BodySerialNumber: mark },
  IFD3: { GPSAreaInformation: mark, GPSLatitude: '52/1 31/1 12/1', GPSLatitudeRef: 'N' },
};

// A photo of wide colours with EXIF and XMP in the places that its format has for them.
async function noted(): Promise<Sharp> {
  return sharp(await samplePhoto('png', size))
    .withIccProfile('p3')
    .withExif(notes)
    .withXmp(xmp);
}

async function markedJpeg(): Promise<Buffer> {
  const iptc = Buffer.from(`\x1c\x02\x78\0${String.fromCharCode(mark.length)}${mark}`, 'latin1');
  const resource = Buffer.concat([Buffer.from('8BIM\x04\x04\0\0\0\0\0', 'latin1'), Buffer.from([iptc.length]), iptc]);
  const photoshop = segment(0xed, Buffer.concat([Buffer.from('Photoshop 3.0\0', 'latin1'), resource, Buffer.alloc(1)]));
  const profile = segment(0xe2, Buffer.from(`FPXR\0${mark}`, 'latin1'));
  const jpeg = jpegWithExif(await (await noted()).jpeg().toBuffer(), { mark });
  return Buffer.concat([jpeg.subarray(0, 2), photoshop, profile, jpeg.subarray(2), behind]);
}

async function markedPng(): Promise<Buffer> {
  const text = (type: string, between: string) => pngChunk(type, Buffer.from(`Comment${between}${mark}`, 'latin1'));
  const chunks = [text('tEXt', '\0'), text('iTXt', '\0\0\0\0\0'), pngChunk('eXIf', exif({ mark })), text('prVt', '\0')];
  const png = await samplePhoto('png', size);
  return Buffer.concat([pngWithChunks(pngWithChunks(png, 'first', ...chunks), 'last', text('tEXt', '\0')), behind]);
}

async function markedGif(): Promise<Buffer> {
  const gif = await made(['-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=10:duration=0.3', '-f', 'gif']);
  const block = (label: number, head: string) =>
    Buffer.concat([Buffer.from([0x21, label]), Buffer.from(head, 'latin1'), blockOf(mark), Buffer.alloc(1)]);
  const extensions = [block(0xfe, ''), block(0xff, '\x0bXMP DataXMP')];
  const screenEnd = 13 + ((gif[10] ?? 0) & 0x80 ? 3 * 2 ** (((gif[10] ?? 0) & 7) + 1) : 0);
  return Buffer.concat([gif.subarray(0, screenEnd), ...extensions, gif.subarray(screenEnd), behind]);
}

function blockOf(text: string): Buffer {
  return Buffer.from(`${String.fromCharCode(text.length)}${text}`, 'latin1');
}

function withBoxes(photo: Buffer): Buffer {
  return Buffer.concat([photo, isoBox('uuid', Buffer.alloc(16), behind), isoBox('free', behind)]);
}

async function markedAnimation(): Promise<Buffer> {
  const frame = await sharp(await samplePhoto('png', size))
    .webp()
    .toBuffer();
  return animatedWebp({ canvas: size, frame, frameSize: size, frames: 3, exif: exif({ mark }) });
}

/** Photos of each type, with the mark in all places that the type has. */
export const markedPhotos: readonly (readonly [string, PhotoType, () => Promise<Buffer>])[] = [
  ['a JPEG', 'jpg', markedJpeg],
  ['a PNG', 'png', markedPng],
  ['a GIF', 'gif', markedGif],
  ['a WebP', 'webp', async () => Buffer.concat([await (await noted()).webp().toBuffer(), behind])],
  ['an animated WebP', 'webp', markedAnimation],
  ['an AVIF', 'avif', async () => withBoxes(await (await noted()).avif({ effort: 0 }).toBuffer())],
  [
    'a HEIC',
    'heic',
    async () => withBoxes(await heif({ coding: 'hevc', brands: ['heic', 'mif1'], ...size, orientation: 1 })),
  ],
  ['a TIFF', 'tiff', async () => Buffer.concat([await (await noted()).tiff().toBuffer(), behind])],
  ['a BMP', 'bmp', async () => Buffer.concat([await samplePhoto('bmp', size), behind])],
];
