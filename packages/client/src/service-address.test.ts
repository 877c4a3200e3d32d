import { expect, test } from 'vitest';
import { serviceAddress } from './service-address.ts';

const paths = [
  '',
  '/',
  '//',
  '/1/upload.xml',
  '/2/upload.json',
  '//2//upload.json',
  '/2/media.json',
  '/files',
  '/files/',
];
const bases = [
  'https://upload.example',
  'http://127.0.0.1:8080',
  'https://media.example/api/photos',
  'https://media.example/files2',
];

test.each(bases.flatMap((base) => paths.map((path) => [base + path, base])))(
  '%s is the service %s',
  (address, service) => {
    expect(serviceAddress(address)).toBe(service);
  },
);

test('other paths stay', () => {
  for (const address of [
    'https://a.example/2',
    'https://a.example/3',
    'https://a.example/files/abc',
    'https://a.example/upload.json',
  ])
    expect(serviceAddress(address)).toBe(address);
});
