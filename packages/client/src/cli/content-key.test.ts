import { expect, test } from 'vitest';
import { contentKey } from './upload-files.ts';

const whole = { media: new Blob(['photo']), account: 'mia', service: 'https://upload.example', message: '', alt: '' };
const keyOf = (more: Partial<typeof whole>) => contentKey({ ...whole, ...more });

test('the key of an upload does not depend on the spelling of the address', async () => {
  const key = await keyOf({});
  for (const service of ['https://upload.example/', 'HTTPS://Upload.Example', 'https://upload.example:443'])
    expect(await keyOf({ service })).toBe(key);
});

test.each([
  { service: 'https://upload.example/api' },
  { service: 'https://upload.example:8443' },
  { service: 'http://upload.example' },
  { media: new Blob(['other']) },
  { account: 'max' },
  { message: 'other' },
  { alt: 'other' },
])('the key of an upload differs with %j', async (more) => {
  expect(await keyOf(more)).not.toBe(await keyOf({}));
});
