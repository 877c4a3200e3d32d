import { tmpdir } from 'node:os';
import { mediaSettings, toolSettings } from '@echodrop/media/media-settings';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { readSettings, rotatedSecret, text, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { queueRedisSettings } from '@echodrop/service/redis/redis';

const settings = {
  ...processSettings(9083),
  ...queueRedisSettings,
  PROBE_QUEUE_SECRET: rotatedSecret({ minLength: 16 }),
  ...storeSettings,
  ...mediaSettings,
  ...toolSettings,
  /** For sparse copies of videos while they are probed, a few MiB each. */
  SCRATCH_DIR: text(tmpdir()),
  /** Concurrent probes of photos, and of videos. */
  CONCURRENCY: wholeNumber({ default: 8, min: 1, max: 256 }),
  FILM_CONCURRENCY: wholeNumber({ default: 2, min: 1, max: 64 }),
};

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
