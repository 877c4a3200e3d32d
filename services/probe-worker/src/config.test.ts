import { expect, test } from 'vitest';
import { readConfig } from './config.ts';

const env = {
  REDIS_URL: 'redis://127.0.0.1:1',
  OBJECT_STORE: 'filesystem',
  OBJECT_STORE_DIR: '/nowhere',
  PROBE_QUEUE_SECRET: 'a secret of this test',
};

test('no type is off unless said', () => {
  expect(readConfig(env).MEDIA_TYPES_OFF).toEqual(new Set());
});

test('types are turned off by their names', () => {
  expect(readConfig({ ...env, MEDIA_TYPES_OFF: 'avif, heic,' }).MEDIA_TYPES_OFF).toEqual(new Set(['avif', 'heic']));
});

test.each(['jpeg', 'avif,HEIC', 'avif heic'])('MEDIA_TYPES_OFF=%s is a fault, told with all others', (value) => {
  expect(() => readConfig({ ...env, MEDIA_TYPES_OFF: value, MAX_PIXELS: 'many' })).toThrow(
    /MAX_PIXELS must.*MEDIA_TYPES_OFF must be some of jpg, png/s,
  );
});
