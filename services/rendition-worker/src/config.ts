import { renditionQueueSecret } from '@echodrop/contracts/secret-settings';
import { mediaSettings, toolSettings } from '@echodrop/media/media-settings';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { readSettings, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { queueRedisSettings } from '@echodrop/service/redis/redis';

export const settings = {
  ...processSettings(9084),
  ...queueRedisSettings,
  ...renditionQueueSecret,
  ...storeSettings,
  ...mediaSettings,
  ...toolSettings,
  CONCURRENCY: wholeNumber({ default: 2, min: 1, max: 64 }).describe(
    'picture sets at once (Compose: 1). A job of 100 million pixels takes 1 GB of memory, at most 4',
  ),
  FILM_CONCURRENCY: wholeNumber({ default: 1, min: 1, max: 64 }).describe(
    'videos at once in the quick [lane](media.md#limits)',
  ),
  SLOW_CONCURRENCY: wholeNumber({ default: 2, min: 1, max: 64 }).describe(
    'jobs at once in the slow lane, in addition; each may take 4 GiB of memory',
  ),
};

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
