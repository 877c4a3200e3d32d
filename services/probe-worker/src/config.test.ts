import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const env = {
  REDIS_URL: 'redis://127.0.0.1:1',
  OBJECT_STORE: 'filesystem',
  OBJECT_STORE_DIR: '/nowhere',
  PROBE_QUEUE_SECRET: 'a secret of this test',
};

test.each(['jpeg', 'avif,HEIC', 'avif heic'])('reports MEDIA_TYPES_OFF=%s with all other invalid settings', (value) => {
  expect(() => readConfig({ ...env, MEDIA_TYPES_OFF: value, MAX_PIXELS: 'many' })).toThrow(
    /MAX_PIXELS must.*MEDIA_TYPES_OFF must be a comma-separated list of jpg, png/s,
  );
});
