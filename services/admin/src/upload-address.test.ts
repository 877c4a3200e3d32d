import { expect, test } from 'vitest';
import { CommandFailed } from './command-context.ts';
import { readMediaId } from './upload-address.ts';

const id = 'Ab3dE6gH9j';
const known = { PUBLIC_SITE_URL: 'https://media.example', PUBLIC_UPLOAD_URL: 'https://upload.example/api' };
const local = { PUBLIC_SITE_URL: 'http://127.0.0.1:8081', PUBLIC_UPLOAD_URL: 'http://127.0.0.1:8080' };

test.each([
  id,
  `https://media.example/${id}`,
  `http://MEDIA.example/${id}/?from=mail#top`,
  `media.example/${id}`,
  `/${id}/full.jpg`,
  `https://media.example/${id}.jpg`,
  `https://media.example/${id}/video.mp4`,
  `https://media.example/${id}/player`,
  `https://media.example/show/full/${id}.jpg`,
  `https://media.example/oembed?format=json&url=${encodeURIComponent(`https://media.example/${id}`)}`,
  `https://upload.example/api/2/media/${id}.json`,
  `https://upload.example/api/2/media/${id}`,
])('finds the id in %s', (address) => {
  expect(readMediaId(address, known)).toBe(id);
});

test('localhost and 127.0.0.1 are the same host, but other ports are not', () => {
  expect(readMediaId(`http://localhost:8081/${id}`, local)).toBe(id);
  expect(readMediaId(`localhost:8081/${id}`, local)).toBe(id);
  expect(() => readMediaId(`http://127.0.0.1:8080/${id}`, local)).toThrow('not at http://127.0.0.1:8081');
});

test.each([
  [`https://media.example/${id}`, 'PUBLIC_SITE_URL', { PUBLIC_UPLOAD_URL: 'https://media.example' }],
  [`media.example/${id}/full.jpg`, 'PUBLIC_SITE_URL', {}],
  [`/oembed?url=${encodeURIComponent(`https://media.example/${id}`)}`, 'PUBLIC_SITE_URL', {}],
  [`https://upload.example/2/media/${id}.json`, 'PUBLIC_UPLOAD_URL', { PUBLIC_SITE_URL: 'https://upload.example' }],
])('%s is refused without %s, and the error names the id', (address, setting, set) => {
  expect(() => readMediaId(address, set)).toThrow(
    `${setting} is not set. If it is the right upload, pass its id: ${id}`,
  );
});

test('a path needs no public address', () => {
  for (const path of [`/${id}/full.jpg`, `/2/media/${id}.json`]) expect(readMediaId(path, {})).toBe(id);
});

test.each([
  '',
  'Ab3dE6gH9',
  '/',
  'https://media.example/',
  'https://media.example/mine',
  'https://media.example/by/0123456789abcdef0123456789abcdef',
  'https://media.example/documentation',
  'https://media.example/oembed?url=x',
  'https://media.example/oembed',
  'https://upload.example/api/2/media.json',
  'ftp://media.example/Ab3dE6gH9j',
  'https://[/Ab3dE6gH9j',
])('names no upload: %j', (text) => {
  expect(() => readMediaId(text, known)).toThrow(
    new CommandFailed(`${JSON.stringify(text)}: neither a media id nor the address of an upload`),
  );
});

test.each([`/\t/evil.example/2/media/${id}`, `/\n/evil.example/${id}`, `/ /evil.example/${id}`, `/\u0085/${id}`])(
  'contains white space: %j',
  (text) => {
    expect(() => readMediaId(text, known)).toThrow('contains white space or control characters');
  },
);

test.each([
  [`https://media.example.evil.example/${id}`, 'PUBLIC_SITE_URL'],
  [`https://media.example@evil.example/${id}`, 'PUBLIC_SITE_URL'],
  [`https://media.example/oembed?url=${encodeURIComponent(`https://evil.example/${id}`)}`, 'PUBLIC_SITE_URL'],
  [`https://evil.example/oembed?url=${encodeURIComponent(`https://media.example/${id}`)}`, 'PUBLIC_SITE_URL'],
  [`https://path.invalid/${id}`, 'PUBLIC_SITE_URL'],
  [`//evil.example/${id}`, 'PUBLIC_SITE_URL'],
  [`/\\evil.example/2/media/${id}`, 'PUBLIC_UPLOAD_URL'],
  [`//evil.example/2/media/${id}.json`, 'PUBLIC_UPLOAD_URL'],
  [`https://media.example/2/media/${id}.json`, 'PUBLIC_UPLOAD_URL'],
])('%s is at another host than %s', (address, setting) => {
  expect(() => readMediaId(address, known)).toThrow(`(${setting}). If it is the right upload, pass its id: ${id}`);
});
