import { videoRecipe } from '@echodrop/media/rendition-recipes';
import { startHabitProxy } from '@echodrop/object-store/habit-proxy.fixture';
import type { Habit } from '@echodrop/object-store/habits.fixture';
import { newMediaKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import { s3ObjectStore } from '@echodrop/object-store/s3/s3-object-store';
import { Secret } from '@echodrop/service/secret';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import { expect, test } from 'vitest';
import { noteUnsupported } from './unsupported-renditions.ts';

describeWithMinio('media under suspicion', {}, (start) => {
  const stores: (readonly Habit[])[] = [[], ['ignores conditions'], ['refuses conditions']];
  test.each(stores)('is too costly after the second one, on a store that has the habits: %s', async (...has) => {
    await using minio = await start();
    await using proxy = await startHabitProxy(minio, has);
    await using store = s3ObjectStore({
      endpoint: proxy.endpoint,
      region: minio.region,
      bucket: minio.bucket,
      accessKey: new Secret(minio.accessKey),
      secretKey: new Secret(minio.secretKey),
    });
    await store.ready();
    const mediaKey = newMediaKey();
    const reasons = async () => {
      await noteUnsupported(store, mediaKey, [videoRecipe], { why: 'suspected', tools: 'a' });
      const keys = await store.listKeys(renditionsPrefixOf(mediaKey), { limit: 10 });
      return keys.map((key) => /\.(\w+)-a$/.exec(key)?.[1]);
    };
    expect(await reasons()).toEqual(['suspected']);
    expect(await reasons()).toEqual(['suspected', 'too_costly']);
  });
});
