import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  choice,
  commaSeparated,
  httpAddress,
  httpOrigin,
  port,
  readSettings,
  requiredWhen,
  requiredWithout,
  rotatedSecret,
  secret,
  text,
  wholeNumber,
} from './env.ts';
import { settingFaults } from './setting-faults.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'echodrop-env-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const faultsOf = (...settings: Parameters<typeof readSettings>) => settingFaults(() => readSettings(...settings));

const token = secret({ minLength: 8 });

test('reads settings, applies defaults and ignores other variables', () => {
  const shape = {
    PORT: port(8080),
    SIZE: wholeNumber({ min: 1 }),
    LEVEL: choice(['info', 'debug'], 'info'),
    SITE: httpAddress(),
    HOST: text('127.0.0.1'),
    PATHS: commaSeparated('/'),
    KEYS: commaSeparated(),
  };
  const env = { SIZE: '5', SITE: 'https://photos.example//', KEYS: ' a, ,b,', PATH: '/bin' };
  expect(readSettings(shape, env)).toEqual({
    PORT: 8080,
    SIZE: 5,
    LEVEL: 'info',
    SITE: 'https://photos.example',
    HOST: '127.0.0.1',
    PATHS: ['/'],
    KEYS: ['a', 'b'],
  });
});

test('lists every invalid setting, without its value', () => {
  const shape = {
    PORT: port(),
    SIZE: wholeNumber({ min: 10, max: 20 }),
    LEVEL: choice(['info', 'debug'], 'info'),
    SITE: httpAddress(),
    HOST: text(),
    TOKEN: token,
    REDIS_URL: secret({ fault: (value) => (value.startsWith('redis://') ? undefined : 'must be a redis:// address') }),
    BUCKET: requiredWhen('STORE', 'minio', text()),
    STORE: choice(['minio', 'filesystem'], 'minio'),
  };
  const env = { SIZE: '21', LEVEL: 'loud', SITE: 'ftp://hunter2', TOKEN: 'hunter2', REDIS_URL: 'http://hunter2' };
  const faults = faultsOf(shape, env);
  expect(faults.toSorted()).toEqual([
    'BUCKET is required if STORE is minio',
    'HOST is required',
    'LEVEL must be one of info, debug',
    'PORT is required',
    'REDIS_URL must be a redis:// address',
    'SITE must be an http(s) address',
    'SIZE must be a whole number from 10 to 20',
    'TOKEN must have at least 8 characters',
  ]);
});

test.each(['', '-1', '+1', '1.0', '1e3', '0x10', ' 1', '65536', '9'.repeat(17), 'NaN'])('%j is not a port', (value) => {
  expect(faultsOf({ PORT: port() }, { PORT: value })).toHaveLength(1);
});

test.each([
  ['0', 0],
  ['00080', 80],
  ['65535', 65_535],
])('%s is a port', (value, number) => {
  expect(readSettings({ PORT: port() }, { PORT: value })).toEqual({ PORT: number });
});

test.each(['photos.example', '//photos.example', 'file:///etc/passwd', 'javascript:alert(1)', 'http://'])(
  '%s is not an address',
  (value) => {
    expect(faultsOf({ SITE: httpAddress() }, { SITE: value })).toEqual(['SITE must be an http(s) address']);
  },
);

test.each([
  ['https://photos.example', 'https://photos.example'],
  ['https://photos.example/', 'https://photos.example'],
  ['http://127.0.0.1:8081', 'http://127.0.0.1:8081'],
  ['HTTPS://Photos.example:443/', 'https://photos.example'],
])('%s is an origin', (value, origin) => {
  expect(readSettings({ SITE: httpOrigin() }, { SITE: value })).toEqual({ SITE: origin });
});

test.each(['/photos', '/?a=b', '/#a', '?'])('an origin with %s after it is invalid', (after) => {
  expect(faultsOf({ SITE: httpOrigin() }, { SITE: `https://photos.example${after}` })).toEqual([
    'SITE must be an http(s) address with a host alone, such as https://media.example',
  ]);
});

test('an origin has a default, or is required', () => {
  expect(readSettings({ SITE: httpOrigin('http://127.0.0.1:1') }, {})).toEqual({ SITE: 'http://127.0.0.1:1' });
  expect(faultsOf({ SITE: httpOrigin() }, {})).toEqual(['SITE is required']);
  expect(faultsOf({ SITE: httpOrigin() }, { SITE: 'photos.example' })).toEqual(['SITE must be an http(s) address']);
  expect(faultsOf({ SITE: httpOrigin() }, { SITE: 'https://u@photos.example' })).toHaveLength(1);
});

test('empty counts as unset', () => {
  const shape = { HOST: text('127.0.0.1'), TOKEN: token, NAME: text() };
  expect(faultsOf(shape, { HOST: '', TOKEN: '', TOKEN_FILE: '', NAME: '' })).toEqual([
    'TOKEN is required',
    'NAME is required',
  ]);
  expect(readSettings({ HOST: text('127.0.0.1') }, { HOST: '' })).toEqual({ HOST: '127.0.0.1' });
});

test.each([
  ['as it is', 'correct horse'],
  ['without the line end of an editor', 'correct horse\n'],
  ['without the line end of Windows', 'correct horse\r\n'],
])('reads a secret from a file, %s', (name, content) => {
  const { TOKEN } = readSettings({ TOKEN: token }, { TOKEN_FILE: file(name, content) });
  expect(TOKEN.reveal()).toBe('correct horse');
});

test('reads an optional secret from a file', () => {
  const shape = { TOKEN: token.optional() };
  expect(readSettings(shape, {}).TOKEN).toBeUndefined();
  expect(readSettings(shape, { TOKEN_FILE: file('optional', 'correct horse') }).TOKEN?.reveal()).toBe('correct horse');
});

test.each([
  ['both are set', { TOKEN: 'correct horse', TOKEN_FILE: '/x' }, 'TOKEN_FILE and TOKEN are both set'],
  ['there is no file', { TOKEN_FILE: '/no/such/file' }, 'TOKEN_FILE cannot be read (ENOENT)'],
  ['it is a folder', { TOKEN_FILE: tmpdir() }, 'TOKEN_FILE cannot be read (EISDIR)'],
  ['the file is empty', { TOKEN_FILE: file('empty', '\n') }, 'TOKEN is required'],
  ['its content is too short', { TOKEN_FILE: file('short', 'hunter2') }, 'TOKEN must have at least 8 characters'],
])('reports one problem if %s', (_, env, fault) => {
  expect(faultsOf({ TOKEN: token }, env)).toEqual([fault]);
});

test('reads only secrets from files', () => {
  expect(faultsOf({ HOST: text() }, { HOST_FILE: file('host', 'photos.example') })).toEqual(['HOST is required']);
});

test.each([
  [{ STORE: 'minio' }, ['BUCKET is required if STORE is minio']],
  [{}, ['BUCKET is required if STORE is minio']],
  [{ STORE: 'minio', BUCKET: 'media' }, []],
  [{ STORE: 'filesystem' }, []],
  [{ STORE: 'filesystem', BUCKET: 'media' }, []],
  [{ STORE: 'tape' }, ['STORE must be one of minio, filesystem']],
])('required if another setting has a value: %j', (env, faults) => {
  const shape = { STORE: choice(['minio', 'filesystem'], 'minio'), BUCKET: requiredWhen('STORE', 'minio', text()) };
  expect(faultsOf(shape, env)).toEqual(faults);
});

test.each([
  [{}, ['QUEUE is required if SHARED is not set']],
  [{ SHARED: 'a' }, []],
  [{ QUEUE: 'b' }, []],
  [{ QUEUE_FILE: file('queue', 'b') }, []],
  [{ SHARED_FILE: '/no/such/file' }, ['SHARED_FILE cannot be read (ENOENT)']],
  [{ QUEUE_FILE: '/no/such/file' }, ['QUEUE_FILE cannot be read (ENOENT)']],
])('required if another setting is not set: %j', (env, faults) => {
  const shape = { SHARED: secret().optional(), QUEUE: requiredWithout('SHARED', secret()) };
  expect(faultsOf(shape, env)).toEqual(faults);
});

test('a rotated secret has one or two values, the current one first', () => {
  const shape = { KEY: rotatedSecret({ minLength: 4 }) };
  const revealed = (env: NodeJS.ProcessEnv) => readSettings(shape, env).KEY.map((each) => each?.reveal());
  expect(revealed({ KEY: 'abcd' })).toEqual(['abcd']);
  expect(revealed({ KEY: 'abcd, efgh' })).toEqual(['abcd', 'efgh']);
  expect(revealed({ KEY_FILE: file('rotated', 'abcd,efgh\n') })).toEqual(['abcd', 'efgh']);
  for (const KEY of ['abc', 'abcd,', 'abcd,efg'])
    expect(faultsOf(shape, { KEY })).toEqual(['KEY must have at least 4 characters']);
  expect(faultsOf(shape, { KEY: 'abcd,efgh,ijkl' })).toEqual(['KEY must be one secret, or two separated by a comma']);
  expect(faultsOf(shape, { KEY: 'abcd,abcd' })).toEqual(['KEY must be two different secrets']);
  expect(faultsOf(shape, { KEY: 'abcdé' })).toEqual(['KEY must contain only ASCII characters']);
  expect(faultsOf(shape, {})).toEqual(['KEY is required']);
});
