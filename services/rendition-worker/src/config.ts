import { mediaSettings, toolSettings } from '@echodrop/contracts/media-settings';
import { renditionQueueSecret } from '@echodrop/contracts/secret-settings';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { defaultOpsPorts } from '@echodrop/service/default-ports';
import { readSettings, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { queueRedisSettings } from '@echodrop/service/redis/redis';

export const settings = {
  ...processSettings(defaultOpsPorts['rendition-worker']),
  ...queueRedisSettings,
  ...renditionQueueSecret,
  ...storeSettings,
  ...mediaSettings,
  ...toolSettings,
  CONCURRENCY: wholeNumber({ default: 2, min: 1, max: 64 }).describe(
    'picture sets at once (Compose: 1), and in addition half as many videos in the quick [lane](media.md#limits) and two jobs in the slow one. ' +
      'A job of 100 million pixels takes 1 GB of memory, at most 4',
  ),
};

/** How many jobs of each queue run at once. */
export function jobsAtOnce(pictures: number) {
  // With one slow job at once, a very long video would block the lane.
  return { pictureConcurrency: pictures, videoConcurrency: Math.ceil(pictures / 2), slowConcurrency: 2 };
}

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
