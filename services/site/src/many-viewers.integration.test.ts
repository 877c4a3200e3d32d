import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuSeconds } from '@echodrop/media/sandbox/cpu-seconds.fixture';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { startStack } from '@echodrop/testkit/start-stack';
import { expect, test } from 'vitest';
import { publishSample } from './site.fixture.ts';

const viewers = 500;
const MiB = 1024 * 1024;

test('500 concurrent viewers of a new photo share a job and do not delay others', async () => {
  let views = 0;
  await using folder = await mkdtempDisposable(join(tmpdir(), 'site-test-'));
  await using store = new FilesystemObjectStore(folder.path);
  await using stack = await startStack({
    services: ['site', 'rendition-worker'],
    settings: { OBJECT_STORE_DIR: folder.path },
  });
  const photo = await samplePhoto('jpg', { width: 640, height: 480 });
  const seen = await publishSample(store, photo);
  const fresh = await publishSample(store, photo);
  await expect.poll(() => view(`/${seen}/large.jpg`)).toBe(200);
  await expect.poll(jobs).toBe(1);
  const siteCpu = () => cpuSeconds(stack.services.site.pid);
  const memoryBefore = await memory();

  const paths = Array.from({ length: viewers }, (_, n) => `/${fresh}/${n % 2 ? 'large' : 'thumb'}.jpg`);
  // The picture is not made before the others have been served.
  await stack.services['rendition-worker'].freeze();
  const before = { views, cpu: siteCpu() };
  const viewing = Promise.all(paths.map(viewUntilMade));
  for (let n = 0; n < 9; n += 1) expect(await view(n % 2 ? `/${seen}/large.jpg` : `/${seen}`)).toBe(200);
  const secondsPerView = (siteCpu() - before.cpu) / (views - before.views);
  await stack.services['rendition-worker'].thaw();

  expect(await viewing).toEqual(paths.map(() => 200));
  await expect.poll(jobs).toBeGreaterThan(1);
  expect(await jobs()).toBe(2);
  // It is about one millisecond, and six if waiting viewers keep the site busy for half a second during most of the other views.
  expect(secondsPerView).toBeLessThan(0.005);
  expect((await memory()) - memoryBefore).toBeLessThan(192 * MiB);

  /** A busy machine may take longer than the site waits. */
  async function viewUntilMade(path: string): Promise<number> {
    let status = await view(path);
    while (status === 503) status = await view(path);
    return status;
  }

  async function view(path: string): Promise<number> {
    views += 1;
    const response = await fetch(`${stack.site}${path}`);
    await response.arrayBuffer();
    return response.status;
  }

  async function jobs(): Promise<number> {
    const metrics = await stack.metrics('rendition-worker');
    const counts = metrics.matchAll(/^echodrop_rendition_job_seconds_count{.*queue="rendition-pictures".*} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** The site's peak memory in bytes. */
  async function memory(): Promise<number> {
    const status = await readFile(`/proc/${stack.services.site.pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }
});
