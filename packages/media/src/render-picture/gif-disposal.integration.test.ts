import { type GifFrame, gif } from '@echodrop/testkit/samples/sample-animation';
import { made } from '@echodrop/testkit/samples/sample-media';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { fullRecipe } from '../recipes.ts';
import { drawnPictures } from '../render-video/rendered.fixture.ts';
import { clearWhatIsDisposedOf } from './gif-disposal.ts';

const size = { width: 128, height: 96 };
const green: GifFrame = { left: 20, top: 30, width: 8, height: 8, colour: 'green' };
const [clear, ofGreen, ofBlue] = ['00000000', '00ff00ff', '0000ffff'];
const toBackground = 2;

/** Pixels of a page of the whole picture, as `rrggbbaa`: all of them, row by row. */
async function pagesShown(bytes: Buffer): Promise<string[][]> {
  const { end, pictures } = await drawnPictures('gif', bytes, [fullRecipe('gif')]);
  expect(end).toEqual({ outcome: 'made' });
  const picture = pictures.get('full.gif') ?? Buffer.alloc(0);
  return Promise.all([0, 1].map((page) => pixels(picture, page)));
}

async function pixels(picture: Buffer, page = 0): Promise<string[]> {
  const raw = await sharp(picture, { page }).ensureAlpha().raw().toBuffer();
  expect(raw.length).toBe(size.width * size.height * 4);
  return raw.toString('hex').match(/.{8}/g) ?? [];
}

const at = (left: number, top: number) => top * size.width + left;

test.each([
  ['goes, it leaves nothing', toBackground, clear],
  ['stays, it is seen behind the next', 1, ofBlue],
])('where a frame of a GIF %s', async (_, disposal, left) => {
  const [first, second] = await pagesShown(gif(size, { ...size, colour: 'blue', disposal }, green));
  expect([first?.[at(0, 0)], first?.[at(24, 34)]]).toEqual([ofBlue, ofBlue]);
  expect([second?.[at(0, 0)], second?.[at(24, 34)]]).toEqual([left, ofGreen]);
});

/** A GIF of noise in so many colours, which goes before a small green frame comes. */
async function noise(colours: number): Promise<{ still: Buffer; moving: Buffer }> {
  const random = `nullsrc=size=${size.width}x${size.height}:duration=0.04,geq=r=random(1)*256:g=random(2)*256:b=random(3)*256`;
  const palette = `split[a][b];[a]palettegen=max_colors=${colours}:reserve_transparent=0[p];[b][p]paletteuse`;
  const filter = colours === 256 ? 'format=gray' : palette;
  const still = await made(['-f', 'lavfi', '-i', random, '-frames:v', '1', '-vf', filter, '-f', 'gif']);
  const gone = Buffer.from(still.subarray(0, -1));
  gone.writeUInt8(toBackground << 2, gone.indexOf('\x21\xf9\x04', 'latin1') + 3);
  // With colours of its own: the header of a GIF of one frame, as a table behind that frame's place.
  const one = gif(size, green);
  const [table, frame] = [one.subarray(13, 13 + 3 * 128), one.subarray(13 + 3 * 128)];
  const place = Buffer.from(frame.subarray(8, 18));
  place.writeUInt8(0x86, 9);
  return { still, moving: Buffer.concat([gone, frame.subarray(0, 8), place, table, frame.subarray(18)]) };
}

test.each([
  [4, clear],
  [100, clear],
  [200, clear],
  [255, clear],
  [256, 'a colour'],
])('of %i colours that go none is lost, and where there is one to spare nothing stays of them', async (...row) => {
  const [colours, left] = row;
  const { still, moving } = await noise(colours);
  clearWhatIsDisposedOf(moving);
  const [first, second] = [await pixels(moving), await pixels(moving, 1)];
  expect(first.filter((pixel) => pixel.endsWith('00'))).toEqual([]);
  expect(first).toEqual(await pixels(still));
  expect(new Set(first).size).toBe(colours);
  expect(second[at(24, 34)]).toBe(ofGreen);
  if (left === clear) expect(second.filter((pixel) => pixel !== clear && pixel !== ofGreen)).toEqual([]);
  else expect(second).not.toContain(clear);
});

test('a GIF that is cut off anywhere is drawn as far as it goes, or refused', async () => {
  const whole = gif(size, { ...size, colour: 'blue', disposal: toBackground }, green);
  for (const cut of [14, 399, 402, 406, 410, 416, 417, 418, 500, whole.length - 3]) {
    const { end } = await drawnPictures('gif', whole.subarray(0, cut), [fullRecipe('gif')]);
    expect(end.outcome).toMatch(/made|unsupported/);
  }
});

test('a frame that is cut into blocks of one byte takes no more than it has', async () => {
  const blocks = Buffer.alloc(8_000_000, '\x01\x00', 'latin1');
  const whole = gif(size, { ...size, colour: 'blue', disposal: toBackground });
  const head = Buffer.from(whole.subarray(0, whole.indexOf('\x2c', 13 + 3 * 128)));
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, size.width, 0, size.height, 0, 0, 8]);
  const before = process.memoryUsage.rss();
  clearWhatIsDisposedOf(Buffer.concat([head, frame, blocks, Buffer.from([0, 0x3b])]));
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
});
