import { mkdir, mkdtempDisposable, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patientSignal } from '@echodrop/testkit/patience';
import { sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { localVideo, videoOptions } from '../rendered.fixture.ts';
import { ToolFailed } from '../sandbox/run-tool.ts';
import { videoTracks } from '../video-layout/ffprobe.ts';
import { renderVideo } from './render-video.ts';

const isRoot = process.getuid?.() === 0;

test(
  'a full disk fails the tool, and stops it if the tool filled it',
  unlessMissing({ root: isRoot }),
  async ({ skip }) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'ffmpeg-breakdown-'));
    const small = join(folder.path, 'small');
    await mkdir(small);
    const { failed } = await execa('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', small], { reject: false });
    skip(failed, 'this machine does not allow a mount');
    await using _ = { [Symbol.asyncDispose]: async () => void (await execa('umount', [small])) };
    const path = join(folder.path, 'video');
    await writeFile(path, await sampleVideo('mpg', { width: 320, height: 240 }));
    await writeFile(join(small, 'filling'), Buffer.alloc(4 * 1024 * 1024 - 8192));
    const out = join(small, 'out');
    await mkdir(out);
    const video = await localVideo(path, 'mpg');
    const render = () => renderVideo(video, join(out, 'made.mp4'), videoOptions());
    await expect(render()).rejects.toThrow('no disk space left');
    await rm(join(out, 'made.mp4'), { force: true });
    await rename(join(small, 'filling'), join(out, 'filling'));
    await expect(render()).rejects.toThrow('a media tool filled the disk');
    await rm(join(out, 'filling'));
    await rm(join(out, 'made.mp4'), { force: true });
    expect(await render()).toEqual({ outcome: 'made' });
  },
);

test('a missing file is not reported as a broken video', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'ffmpeg-breakdown-'));
  await expect(videoTracks(join(folder.path, 'video'), 'mp4', patientSignal())).rejects.toThrow(ToolFailed);
});
