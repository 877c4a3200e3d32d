import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CountedSource } from '@echodrop/testkit/counted-source';
import { ftyp, isoBox } from '@echodrop/testkit/sample-iso';
import { sampleFilm } from '@echodrop/testkit/sample-media';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { probeMedia } from './probe.ts';
import { pictureRecipes } from './recipes.ts';
import { renderFilm } from './render-film.ts';
import { renderPictures } from './render-pictures.ts';

let directory: string;
let canaryFilm: string;
let canaryAddress: string;
let canary: Server;
let connections = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'probe-hostile-'));
  canaryFilm = join(directory, 'canary.ts');
  await writeFile(canaryFilm, await sampleFilm('ts', { width: 123 * 2, height: 66 }));
  canary = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  const address = canary.address();
  canaryAddress = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '';
});
afterAll(async () => {
  canary.close();
  await rm(directory, { recursive: true });
});

const segmentsOf = (address: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${address}\n#EXT-X-ENDLIST\n`;
const manifestOf = (address: string) =>
  `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><BaseURL>${address}</BaseURL><SegmentBase/></Representation></AdaptationSet></Period></MPD>`;

const hostile: readonly (readonly [string, () => string | Buffer])[] = [
  ['an HLS playlist of a file', () => segmentsOf(canaryFilm)],
  ['an HLS playlist of an address', () => segmentsOf(`${canaryAddress}/x.ts`)],
  ['a DASH manifest of an address', () => manifestOf(`${canaryAddress}/x.mp4`)],
  [
    'a DASH manifest behind the brand of an MP4',
    () => Buffer.concat([ftyp('isom'), isoBox('free', Buffer.from(manifestOf(`${canaryAddress}/x.mp4`)))]),
  ],
  [
    'a DASH manifest in the index of an MP4',
    () => Buffer.concat([ftyp('isom'), isoBox('moov', Buffer.from(manifestOf(`${canaryAddress}/x.mp4`)))]),
  ],
  ['an HLS playlist behind the beginning of an Ogg', () => `OggS${segmentsOf(canaryFilm)}`],
  ['an HLS playlist behind the beginning of an FLV', () => `FLV\x01\n${segmentsOf(`${canaryAddress}/x.ts`)}`],
  [
    'an HLS playlist behind the beginning of MPEG',
    () => Buffer.from(`\0\0\x01\xba${segmentsOf(canaryFilm)}`, 'latin1'),
  ],
  ['a concat script', () => `ffconcat version 1.0\nfile '${canaryFilm}'\n`],
  [
    'an SVG that names an address',
    () => `<svg xmlns="http://www.w3.org/2000/svg"><image href="${canaryAddress}/x.png"/></svg>`,
  ],
  ['a session description', () => 'v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\nm=video 9 RTP/AVP 96\r\n'],
];

test.each(hostile)('%s is refused, and leads nowhere', async (_, content) => {
  const bytes = Buffer.from(content());
  const signal = AbortSignal.timeout(15_000);
  const probe = await probeMedia(new CountedSource(bytes), { scratchDir: directory, maxPixels: 1e8, signal });
  expect(probe).toMatchObject({ outcome: 'unsupported' });
  expect(connections).toBe(0);
});

test.each(hostile)('%s gives no rendition either, whatever type it is taken for', async (_, content) => {
  const path = join(directory, 'hostile');
  await writeFile(path, content());
  const options = { scratchDir: directory, maxPixels: 1e8, signal: AbortSignal.timeout(15_000) };
  for (const type of ['jpg', 'mp4', 'ts'] as const) {
    const picture = { recipe: pictureRecipes.large, path: join(directory, 'picture') };
    expect(await renderPictures({ path, type }, [picture], options)).toMatchObject({ outcome: 'unsupported' });
  }
  expect(await renderFilm({ path, type: 'mp4' }, join(directory, 'film'), options)).toMatchObject({
    outcome: 'unsupported',
  });
  expect(connections).toBe(0);
});

test('a title with lines of its own says nothing about the size', async () => {
  const title = 'x\nwidth=9999\nheight=9999';
  const options = ['-metadata', `title=${title}`, '-metadata:s:v', `handler_name=${title}`];
  const film = await sampleFilm('mp4', { width: 160, height: 120, options });
  const signal = AbortSignal.timeout(15_000);
  const probe = await probeMedia(new CountedSource(film), { scratchDir: directory, maxPixels: 1e8, signal });
  expect(probe).toMatchObject({ width: 160, height: 120 });
});
