import { expect, test } from 'vitest';
import { contentKey } from './content-key.ts';

const keyAt = (service: string) =>
  contentKey({ media: new Blob(['photo']), account: 'mia', service, message: '', alt: undefined });

test('the key of an upload does not depend on the spelling of the address', async () => {
  const key = await keyAt('https://upload.example');
  for (const service of ['https://upload.example/', 'HTTPS://Upload.Example', 'https://upload.example:443'])
    expect(await keyAt(service)).toBe(key);
  for (const service of ['https://upload.example/api', 'https://upload.example:8443', 'http://upload.example'])
    expect(await keyAt(service)).not.toBe(key);
});
