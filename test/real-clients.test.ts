import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { signEcho } from '@echodrop/testkit/sign-echo';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clients } from './clients/clients.ts';

let stack: Stack;
let photo: Buffer;
let photoFile: string;
let largeFile: string;

beforeAll(async () => {
  photo = await samplePhoto('jpg', { width: 64, height: 48 });
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'] });
  photoFile = join(stack.folder, 'photo.jpg');
  largeFile = join(stack.folder, 'large.jpg');
  await writeFile(photoFile, photo);
  await writeFile(largeFile, Buffer.concat([photo, Buffer.alloc(20 * 1024 * 1024)]));
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

for (const [name, { needs, find }] of Object.entries(clients)) {
  const client = await find();
  describe(name, unlessMissing({ [needs]: client !== undefined }), () => {
    const upload = (file: string, signer: typeof sandbox = sandbox) => {
      if (!client) return expect.fail(`${needs} is missing`);
      const { provider, gateway } = stack;
      const authorization = signEcho(provider, signer);
      const address = `${gateway}/2/upload.json`;
      return client({ address, provider, authorization, key: sandbox.apiKey, message: 'Häuser & Boote', file });
    };

    test('uploads a photo and reads its record', async () => {
      const response = await upload(photoFile);
      expect(response).toMatchObject({ status: 200 });
      expect(JSON.parse(response.text)).toMatchObject({
        text: 'Häuser & Boote',
        width: 64,
        height: 48,
        size: photo.length,
        type: 'jpg',
        user: { id: sandbox.userId, screen_name: sandbox.screenName },
      });
    });

    test('gets a 401 while sending 20 MB', async () => {
      const wrong = { ...sandbox, token: { ...sandbox.token, secret: 'wrong' } };
      const response = await upload(largeFile, wrong as typeof sandbox);
      expect(response).toMatchObject({ status: 401 });
      expect(JSON.parse(response.text)).toMatchObject({ errors: [{ code: 401, reason: 'credentials_refused' }] });
      expect(await stack.stored('media')).toHaveLength((await stack.stored('records')).length);
    });
  });
}
