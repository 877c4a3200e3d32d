import { expect, test } from 'vitest';
import { mediaIdAt } from './direct-address.ts';

const id = 'Ab3dE6gH9j';

test.each([
  '',
  '/',
  '/?utm_source=x',
  '.jpg/',
  '?utm_source=x',
  '#t=3',
  '?a=b#c',
  '.jpg',
  '.mp4',
  '.heic',
  '.jpeg?download',
])('finds the id in an address with "%s" after it', (after) => {
  expect(mediaIdAt(`https://pics.example/${id}${after}`, 'https://pics.example')).toBe(id);
  expect(mediaIdAt(`https://pics.example:443/${id}${after}`, 'https://pics.example')).toBe(id);
});

test.each([
  `http://pics.example/${id}`,
  `//pics.example/${id}`,
  `/${id}`,
  id,
  `javascript:https://pics.example/${id}`,
  `https://pics.example//${id}`,
  `https://pics.example/of/us/${id}`,
  `https://pics.example/${id}/large.jpg`,
  `https://pics.example/${id}.exe`,
  `https://pics.example/${id}.jpg.mp4`,
  `https://pics.example/%41b3dE6gH9j`,
  'https://pics.example/short',
  'https://pics.example/',
  'https://',
  '',
])('%s is not an address of media', (address) => {
  expect(mediaIdAt(address, 'https://pics.example')).toBeUndefined();
});

test.each([
  'pics.example.evil.example',
  'pics.example@evil.example',
  'evil.example',
  'pics.example:8443',
  'pics.examples',
])('https://%s is another site', (host) => {
  expect(mediaIdAt(`https://${host}/${id}`, 'https://pics.example')).toBeUndefined();
});
