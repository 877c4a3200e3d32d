import { expect, test } from 'vitest';
import { SourceReader } from '../input/source-reader.ts';
import { readIsoTracks } from './iso-tracks.ts';

const header = (type: string, size: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(size);
  bytes.write(type, 4, 'latin1');
  return bytes;
};
const box = (type: string, ...parts: readonly Buffer[]) => {
  const content = Buffer.concat(parts);
  return Buffer.concat([header(type, 8 + content.length), content]);
};

async function read(media: Buffer) {
  let calls = 0;
  const reader = new SourceReader(
    { size: media.length, head: media, read: async () => Buffer.alloc(0) },
    AbortSignal.abort(),
  );
  const at = reader.at.bind(reader);
  reader.at = (...range) => {
    calls += 1;
    return at(...range);
  };
  const tracks = await readIsoTracks(reader);
  return { tracks, calls };
}

test('reads the kind and the sample descriptions of each track', async () => {
  const track = (handler: string) => {
    const hdlr = box('hdlr', Buffer.alloc(8), Buffer.from(handler));
    return box('trak', box('tkhd'), box('mdia', hdlr, box('minf', box('stbl', box('stsd', Buffer.from(handler))))));
  };
  const { tracks } = await read(Buffer.concat([box('ftyp'), box('moov', track('vide'), box('trak'), track('soun'))]));
  const seen = tracks.map(({ handler, descriptions }) => [handler, descriptions.toString()]);
  expect(seen).toEqual([
    ['vide', 'vide'],
    ['', ''],
    ['soun', 'soun'],
  ]);
});

test.each([
  [
    'boxes that claim to be larger than their parents',
    [header('minf', 24), header('stbl', 2 ** 31), header('stsd', 24)],
  ],
  ['small boxes', [header('free', 8), header('free', 8), header('free', 8)]],
])('reads a bounded number of headers of %s', async (_, unit) => {
  const tracks = Array.from({ length: 64 }, () => [header('trak', 16), header('mdia', 2 ** 31)]).flat();
  const moov = box('moov', ...tracks, ...Array.from({ length: 20_000 }, () => unit).flat());
  const { tracks: found, calls } = await read(moov);
  expect(found.length).toBeLessThanOrEqual(64);
  expect(calls).toBeLessThan(20_000);
});
