import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { boxContents } from '../input/iso-boxes.ts';
import { mediaFile } from '../media-file.fixture.ts';
import { trackSize } from '../photo-size/heif-size.ts';
import { extractStill } from '../render-picture/render-pictures.ts';
import { localVideo, pictureOptions, videoOptions } from '../rendered.fixture.ts';
import { fitWithin, type Size } from '../size.ts';
import { knownVideos } from '../video-layout/known-videos.fixture.ts';
import { renderVideo } from './render-video.ts';

const fullHd = { longest: 1920, shortest: 1080 };
// Not those without pictures, nor those that differ from another only in what the probe reads: a correct rendition of one is
// correct for the other, and each takes half a second of CPU time.
const alike = [
  /by its header|first picture has more|boxes before|index first|DASH|Smooth|64 bits|edit list|sound first|phones tag|PNG for its cover|first the default/,
  /^(M4V|F4V|3G2)$|PlayStation|own brand|before the brands|time code|nineties|font|before its pictures|sizes, as browsers/,
  /mirrored$|other way|upside down|pixels, turned by 180|^MOV turned|^(WebM|AVI|TS|OGV) with wide|Super Video|M2TS/,
  /^(MP4|3GP|AVI|FLV) with H\.264|^(AVI|3GP) with H\.263|^TS with (HEVC|checksums)|^(MP4|TS) with MPEG-2$|^AVI with (Cinepak|DV|Windows)/,
  /^(MP4|FLV) without sound|skeleton|WMV (of Windows Media 7|with MPEG-4)|^OGV with VP8|^MP4 with (VP9|AV1)|^MKV of two/,
  // known-videos.integration.test.ts shows that ffmpeg decodes these, and render-traces.integration.test.ts what is made of each type.
  /with (MPEG-4 part 2|ProRes|Motion JPEG|Sorenson|Cinepak|QuickTime|PNG|H\.261|CineForm|Xvid|DivX|MPEG-4 of Microsoft)/,
  /with (Microsoft Video|HuffYUV|FFV1|sound of broadcasters)|without compression|^MPEG-1$|^[0-9A-Za-z]+$|^MPEG-2$/,
];
const shown = knownVideos.filter(([name]) => !alike.some((names) => names.test(name)));

test.concurrent.each(shown)('%s: video and poster have the aspect ratio in the record', async (...row) => {
  const [, type, width, height, make] = row;
  await using file = await mediaFile(await make());
  const video = join(file.folder, 'video.mp4');
  const source = await localVideo(file.path, type);
  expect(await renderVideo(source, video, videoOptions())).toEqual({ outcome: 'made' });
  expectShape(videoSize(await readFile(video)), fitWithin({ width, height }, fullHd));
  const poster = await extractStill(source, true, pictureOptions(file.folder));
  expectShape(pngSize(await readFile(typeof poster === 'string' ? expect.fail(poster) : poster.path)), {
    width,
    height,
  });
});

// H.264 requires even sides.
function expectShape(size: Size | undefined, { width, height }: Size): void {
  expect(Math.abs((size?.width ?? 0) - width), `${size?.width} wide, not ${width}`).toBeLessThanOrEqual(1);
  expect(Math.abs((size?.height ?? 0) - height), `${size?.height} high, not ${height}`).toBeLessThanOrEqual(1);
}

function videoSize(video: Buffer): Size | undefined {
  const [moov] = boxContents(video, 'moov');
  return moov && trackSize(moov, 'vide');
}

function pngSize(png: Buffer): Size {
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}
