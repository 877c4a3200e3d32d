import sharp from 'sharp';
import { expect, test } from 'vitest';
import { type MarkedFilm, mark, markedFilm, markedPhotos } from './marked-media.fixture.ts';
import { filmMade, renderedPictures } from './rendered.fixture.ts';

// What the mark's container would be recognised by, were it kept with other words; `somewhere` stands in the EXIF of a
// sample HEIC, `x264` in what the encoder notes.
const traces = [
  mark,
  Buffer.from(mark, 'utf16le'),
  'Exif',
  'adobe',
  'xmpmeta',
  'Photoshop',
  'ICC_PROFILE',
  'acsp',
  'somewhere',
];

async function expectNoTrace(name: string, picture: Buffer): Promise<void> {
  for (const trace of traces) expect({ name, trace, at: picture.indexOf(trace) }).toEqual({ name, trace, at: -1 });
  const metadata = await sharp(picture).metadata();
  for (const kind of ['exif', 'icc', 'iptc', 'xmp', 'comments', 'orientation', 'tifftagPhotoshop'] as const) {
    expect({ name, kind, found: metadata[kind] }).toEqual({ name, kind, found: undefined });
  }
}

test.each(markedPhotos)('no picture of %s says anything of who took it, where or with what', async (_, type, photo) => {
  const original = await photo();
  expect(original.includes(mark)).toBe(true);
  const { end, pictures } = await renderedPictures(type, original);
  expect(end).toEqual({ outcome: 'made' });
  expect(pictures.size).toBe(6);
  for (const [name, picture] of pictures) await expectNoTrace(name, picture);
});

test.each<MarkedFilm>(['mp4', 'mov', 'mkv', 'avi'])(
  'neither does the film of a %s, nor any picture of it',
  async (type) => {
    const original = await markedFilm(type);
    expect(original.toString('latin1').split(mark).length).toBeGreaterThan(5);
    const { film, tracks } = await filmMade(type, original);
    expect(tracks.map(({ kind }) => kind)).toEqual(['video', 'sound']);
    for (const trace of [...traces, 'x264 - core', 'Lavf', 'chpl', 'text', 'keys', 'loci']) {
      expect({ trace, at: film.indexOf(trace) }).toEqual({ trace, at: -1 });
    }
    const { pictures } = await renderedPictures(type, original);
    expect(pictures.size).toBe(6);
    for (const [name, picture] of pictures) await expectNoTrace(name, picture);
  },
);
