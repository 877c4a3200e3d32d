import { tmpdir } from 'node:os';
import { mediaTypes } from '@echodrop/media/media-type';
import { storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { readSettings, type Settings, someOf, text, wholeNumber } from '@echodrop/service/env';
import { processSettings } from '@echodrop/service/process-settings';
import { queueRedisSettings } from '@echodrop/service/redis';

const settings = {
  ...processSettings(9084),
  ...queueRedisSettings,
  ...storeSettings,
  /** Width x height of a canvas. */
  MAX_PIXELS: wholeNumber({ default: 100_000_000, min: 1 }),
  /** Types of which no rendition is made any more, for the day on which a reader of one of them turns out to be unsafe. */
  MEDIA_TYPES_OFF: someOf(mediaTypes),
  /** Where media and what is made of it lie while a job runs: room for the largest media twice, for each job. */
  SCRATCH_DIR: text(tmpdir()),
  /** Pictures made at once, and films. */
  CONCURRENCY: wholeNumber({ default: 2, min: 1, max: 64 }),
  FILM_CONCURRENCY: wholeNumber({ default: 1, min: 1, max: 64 }),
};

export type RenditionWorkerConfig = Settings<typeof settings>;

export function readConfig(env: NodeJS.ProcessEnv): RenditionWorkerConfig {
  return readSettings(settings, env);
}
