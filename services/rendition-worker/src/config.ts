import { tmpdir } from 'node:os';
import { mediaSettings, toolSettings } from '@echodrop/media/media-settings';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { readSettings, rotatedSecret, text, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { queueRedisSettings } from '@echodrop/service/redis/redis';

const settings = {
  ...processSettings(9084),
  ...queueRedisSettings,
  RENDITION_QUEUE_SECRET: rotatedSecret({ minLength: 16 }),
  ...storeSettings,
  ...mediaSettings,
  ...toolSettings,
  /** For media and its renditions during a job: each job needs twice the size of the largest media. */
  SCRATCH_DIR: text(tmpdir()),
  /** Concurrent jobs for pictures, and for videos. */
  CONCURRENCY: wholeNumber({ default: 2, min: 1, max: 64 }),
  FILM_CONCURRENCY: wholeNumber({ default: 1, min: 1, max: 64 }),
  /** Concurrent expensive jobs, in addition to the others. */
  SLOW_CONCURRENCY: wholeNumber({ default: 1, min: 1, max: 64 }),
};

export const readConfig = (env: NodeJS.ProcessEnv) => readSettings(settings, env);
