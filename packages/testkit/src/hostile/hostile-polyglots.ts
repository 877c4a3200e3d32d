import { segment } from '../samples/sample-exif.ts';
import { samplePhoto } from '../samples/sample-media.ts';
import { type Canary, type HostileMedia, hostile } from './hostile-sample.ts';

const size = { width: 32, height: 24 };
const script = ({ address }: Canary) => Buffer.from(`<html><script src="${address}/polyglot.js"></script></html>`);
// The end record of an empty zip, which unzip searches for from the end of the file.
const zipEnd = Buffer.concat([Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)]);

/** Photos that are also valid in another format: they count as photos, and their other content has no effect. */
export const polyglots: readonly HostileMedia[] = [
  hostile('a JPEG that is also a page', 'jpg 32x24', async (canary) => {
    const jpeg = await samplePhoto('jpg', size);
    return Buffer.concat([jpeg.subarray(0, 2), segment(0xfe, script(canary)), jpeg.subarray(2), script(canary)]);
  }),
  hostile(
    'a JPEG that is also a zip',
    'jpg 32x24',
    withTail('jpg', () => zipEnd),
  ),
  hostile(
    'a JPEG followed by a PDF',
    'jpg 32x24',
    withTail('jpg', () => Buffer.from('%PDF-1.7\n')),
  ),
  hostile('a PNG that is also a page', 'png 32x24', withTail('png', script)),
  hostile(
    'a PNG followed by an HLS playlist',
    'png 32x24',
    withTail('png', ({ file }) => Buffer.from(`\n#EXTM3U\n${file}`)),
  ),
  hostile(
    'a GIF that is also a zip',
    'gif 32x24',
    withTail('gif', () => zipEnd),
  ),
  hostile('a GIF whose comment is a PHP script', 'gif 32x24', async () => {
    const gif = await samplePhoto('gif', size);
    const php = Buffer.from('<?php system("id"); ?>');
    return Buffer.concat([gif.subarray(0, -1), Buffer.from([0x21, 0xfe, php.length]), php, Buffer.from([0, 0x3b])]);
  }),
  hostile('a TIFF followed by a page', 'tiff 32x24', withTail('tiff', script)),
];

function withTail(type: Parameters<typeof samplePhoto>[0], tail: (canary: Canary) => Buffer): HostileMedia['make'] {
  return async (canary) => Buffer.concat([await samplePhoto(type, size), tail(canary)]);
}
