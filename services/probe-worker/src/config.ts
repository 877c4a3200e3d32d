import { mediaSettings, toolSettings } from '@echodrop/contracts/media-settings';
import { probeQueueSecret } from '@echodrop/contracts/secret-settings';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { defaultOpsPorts } from '@echodrop/service/default-ports';
import { readSettings, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { queueRedisSettings } from '@echodrop/service/redis/redis';

export const settings = {
  ...processSettings(defaultOpsPorts['probe-worker']),
  ...queueRedisSettings,
  ...probeQueueSecret,
  ...storeSettings,
  ...mediaSettings,
  ...toolSettings,
  CONCURRENCY: wholeNumber({ default: 8, min: 1, max: 256 }).describe(
    'photos probed at once, and in addition a quarter as many videos',
  ),
};

/** How many videos are probed at once, beside `photos`. ffprobe takes up to 1 GiB of memory for each. */
export function videosBeside(photos: number): number {
  return Math.ceil(photos / 4);
}

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
