import { readSettings } from '@echodrop/service/env';
import { settingFaults } from '@echodrop/service/setting-faults.fixture';
import { expect, test } from 'vitest';
import { FilesystemObjectStore } from './filesystem/filesystem-object-store.ts';
import { objectStoreFromSettings, storeSettings } from './object-store-from-settings.ts';

const s3 = {
  S3_ENDPOINT: 'https://store.example:9000',
  S3_BUCKET: 'echodrop',
  S3_ACCESS_KEY: 'access',
  S3_SECRET_KEY: 'secret',
};

const faultsOf = (env: NodeJS.ProcessEnv) => settingFaults(() => readSettings(storeSettings, env));

test('the default is S3, and all missing settings are reported at once', () => {
  expect(faultsOf({ S3_ENDPOINT: 'http://store.example/path' })).toEqual([
    'S3_BUCKET is required if OBJECT_STORE is s3',
    'S3_ACCESS_KEY is required if OBJECT_STORE is s3',
    'S3_SECRET_KEY is required if OBJECT_STORE is s3',
    'S3_ENDPOINT must be an http(s) address with a host alone, such as https://media.example',
  ]);
});

test('the filesystem store needs a directory and no S3 settings', () => {
  expect(faultsOf({ OBJECT_STORE: 'filesystem' })).toEqual([
    'OBJECT_STORE_DIR is required if OBJECT_STORE is filesystem',
  ]);
  expect(faultsOf({ OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: '/var/lib/echodrop' })).toEqual([]);
});

test('S3 had the name minio, and settings with it are still accepted', () => {
  expect(faultsOf({ OBJECT_STORE: 'minio', ...s3, S3_BUCKET: '' })).toEqual([
    'S3_BUCKET is required if OBJECT_STORE is s3',
  ]);
  expect(readSettings(storeSettings, { OBJECT_STORE: 'minio', ...s3 }).OBJECT_STORE).toBe('s3');
});

test('values that no header can have are refused', () => {
  const env = { ...s3, S3_ACCESS_KEY: 'two\nlines', S3_REGION: 'eu/west' };
  expect(faultsOf(env).map((fault) => fault.split(' ', 2).join(' '))).toEqual(['S3_REGION must', 'S3_ACCESS_KEY must']);
});

test('an unknown store is the only reported problem', () => {
  expect(faultsOf({ OBJECT_STORE: 'ftp' })).toEqual(['OBJECT_STORE must be one of s3, filesystem']);
});

test('an unreadable secret file is reported once', () => {
  const { S3_SECRET_KEY: _, ...others } = s3;
  expect(faultsOf({ ...others, S3_SECRET_KEY_FILE: '/nowhere' })).toEqual([
    'S3_SECRET_KEY_FILE cannot be read (ENOENT)',
  ]);
});

test('the settings select the store', async () => {
  const directory = { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: '/var/lib/echodrop' };
  expect(await objectStoreFromSettings(readSettings(storeSettings, directory))).toBeInstanceOf(FilesystemObjectStore);
  await using store = await objectStoreFromSettings(readSettings(storeSettings, s3));
  expect(store).not.toBeInstanceOf(FilesystemObjectStore);
});
