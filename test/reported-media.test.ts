import { existsSync, readFileSync } from 'node:fs';
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { patientSettings } from '@echodrop/testkit/patience';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Media made after public bug reports, next to the project if it exists. Its README says what the fields mean.
const folder = resolve(import.meta.dirname, '../../shared/reports/media');
const isThere = existsSync(folder);

interface Expectation {
  readonly file: string;
  readonly kind: 'photo' | 'video';
  readonly colour?: readonly number[];
  readonly minFrames?: number;
  readonly framesAfterSeekTo?: readonly number[];
  readonly videoColour?: readonly number[];
  readonly videoTransfer?: string;
  readonly hasSound?: boolean;
}

const expectations: readonly Expectation[] = isThere
  ? JSON.parse(readFileSync(join(folder, 'expect.json'), 'utf8'))
  : [];
const maxDifference = 5;

describe('media of public reports', unlessMissing({ 'media of public reports': isThere }), () => {
  const parts = new AsyncDisposableStack();
  let stack: Stack;
  let scratch: string;

  beforeAll(async () => {
    scratch = parts.use(await mkdtempDisposable(join(tmpdir(), 'reported-media-'))).path;
    stack = parts.use(await startStack({ settings: patientSettings }));
  });
  afterAll(() => parts.disposeAsync());

  /** Downloads a rendition as soon as it is made. */
  async function download(id: string, name: string): Promise<string> {
    const path = join(scratch, `${id}-${name}`);
    const address = `${stack.site}/${id}/${name}`;
    const isMade = () =>
      fetch(address).then(async (response) => (await response.arrayBuffer()) && response.status === 200);
    await waitUntil(`${address} of a made rendition`, isMade);
    await writeFile(path, Buffer.from(await (await fetch(address)).arrayBuffer()));
    return path;
  }

  test.concurrent.each(expectations)('$file is shown as its definition says', async (expected) => {
    const { status, text } = await upload(stack, { media: await readFile(join(folder, expected.file)) });
    expect(status).toBe(200);
    const { id } = JSON.parse(text) as { id: string };
    for (const name of pictures) {
      const path = await download(id, name);
      if (expected.colour) expectColour(name, await meanColour(path), expected.colour);
    }
    if (expected.kind === 'photo') return;
    const video = await download(id, 'video.mp4');
    const { minFrames = 1, framesAfterSeekTo = [], videoColour, videoTransfer, hasSound } = expected;
    expect(await countFrames(video)).toBeGreaterThanOrEqual(minFrames);
    for (const second of framesAfterSeekTo) {
      expect(await countFrames(video, ['-ss', String(second), '-t', '1']), `after ${second} s`).toBeGreaterThan(0);
    }
    const { picture, sound } = await readTracks(video);
    if (videoTransfer) expect(picture.color_transfer).toBe(videoTransfer);
    if (hasSound) expect(sound).toBeDefined();
    if (videoColour) expectColour('video.mp4', await colourInBrowser(video, picture), videoColour);
  });
});

// ffmpeg reads no AVIF with alpha, so the whole picture is tested in packages/media.
const pictures = ['mini.jpg', 'thumb.jpg', 'small.jpg', 'medium.jpg', 'medium.webp', 'large.jpg', 'large.webp'];

function expectColour(name: string, found: readonly number[], expected: readonly number[]): void {
  const differences = expected.map((value, n) => Math.abs(value - (found[n] ?? Number.NaN)));
  expect(Math.max(...differences), `${name}: ${found}, not ${expected}`).toBeLessThanOrEqual(maxDifference);
}

// A browser takes untagged video of 720 lines or more for BT.709, less for BT.601.
async function colourInBrowser(path: string, { color_space, height = 0 }: Track): Promise<readonly number[]> {
  const stated = { bt709: 'bt709', smpte170m: 'bt601', bt470bg: 'bt601', bt2020nc: 'bt2020' }[color_space ?? ''];
  return meanColour(path, `scale=in_color_matrix=${stated ?? (height >= 720 ? 'bt709' : 'bt601')},`);
}

async function meanColour(path: string, filter = ''): Promise<readonly number[]> {
  const output = ['-frames:v', '1', '-vf', `${filter}format=rgb24`, '-f', 'rawvideo', 'pipe:1'];
  const { stdout } = await execa('ffmpeg', ['-v', 'error', '-i', path, ...output], { encoding: 'buffer' });
  const sums = [0, 0, 0];
  stdout.forEach((value, n) => {
    sums[n % 3] = (sums[n % 3] ?? 0) + value;
  });
  return sums.map((sum) => Math.round(sum / (stdout.length / 3)));
}

// Frames that a player shows: without those that lack what they refer to.
async function countFrames(path: string, from: readonly string[] = []): Promise<number> {
  const output = ['-map', '0:v', '-f', 'framecrc', 'pipe:1'];
  const { stdout } = await execa('ffmpeg', ['-v', 'quiet', ...from, '-i', path, ...output]);
  return stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
}

interface Track {
  readonly codec_type: string;
  readonly height?: number;
  readonly color_space?: string;
  readonly color_transfer?: string;
}

async function readTracks(path: string): Promise<{ picture: Track; sound: Track | undefined }> {
  const query = ['-v', 'error', '-show_streams', '-of', 'json', path];
  const { streams } = JSON.parse((await execa('ffprobe', query)).stdout) as { streams: readonly Track[] };
  const [picture, sound] = ['video', 'audio'].map((kind) => streams.find(({ codec_type }) => codec_type === kind));
  if (!picture) throw new Error('no picture track');
  return { picture, sound };
}
