import { chmod, mkdtempDisposable, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { holdVolume } from './hold-volume.ts';

test('one container holds a volume at a time, and closes it to other users', async () => {
  await using volume = await mkdtempDisposable(join(tmpdir(), 'hold-volume-'));
  await chmod(volume.path, 0o755);
  {
    await using _held = await holdVolume(volume.path);
    expect((await stat(volume.path)).mode & 0o777).toBe(0o700);
    await expect(holdVolume(volume.path)).rejects.toThrow('Another container is using this volume');
  }
  await using _again = await holdVolume(volume.path);
});

test('says what to do with a folder where this user may not write', async () => {
  const advice = /^User \d+:\d+ cannot write to \/nowhere \(ENOENT\).*chown .*--user/;
  await expect(holdVolume('/nowhere')).rejects.toThrow(advice);
});
