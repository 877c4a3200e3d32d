import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { signEcho } from '@echodrop/testkit/sign-echo';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageOrigin } from './clients/browser-client.ts';
import { clients } from './clients/clients.ts';
import { canImport, canRunJava, runJava, runPython } from './clients/run-program.ts';

const message = 'Häuser & Boote ☃';

let stack: Stack;
let photo: Buffer;
let photoFile: string;
let largeFile: string;

beforeAll(async () => {
  photo = await samplePhoto('jpg', { width: 64, height: 48 });
  stack = await startStack({
    services: ['sandbox-provider', 'auth-verifier', 'gateway'],
    // Some tus clients need an absolute Location.
    settings: ({ gateway }) => ({ CORS_ORIGINS: pageOrigin, PUBLIC_UPLOAD_URL: gateway }),
  });
  photoFile = join(stack.folder, 'photo.jpg');
  largeFile = join(stack.folder, 'large.jpg');
  await writeFile(photoFile, photo);
  await writeFile(largeFile, Buffer.concat([photo, Buffer.alloc(20 * 1024 * 1024)]));
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
});

for (const [name, { needs, find, requests, refused = {} }] of Object.entries(clients)) {
  const client = await find();
  describe(name, unlessMissing(needs ? { [needs]: client !== undefined } : {}), () => {
    const mistakes = Object.keys(refused);
    const upload = async (made: readonly string[], file: string, signer: typeof sandbox = sandbox) => {
      if (!client) return expect.fail(`${needs} is missing`);
      const { provider, gateway } = stack;
      const authorization = signEcho(provider, signer);
      const address = `${gateway}/2/upload.json`;
      const responses = await client({ address, provider, authorization, key: sandbox.apiKey, message, file }, made);
      return Object.entries(responses).map(([name, { status, text }]) => [name, status, JSON.parse(text)]);
    };
    // Both tests look at one run of the program.
    let sent: ReturnType<typeof upload> | undefined;
    const uploadPhoto = () => (sent ??= upload([...requests, ...mistakes], photoFile));

    test(`uploads a photo and reads its record: ${requests.join('; ')}`, async () => {
      const record = {
        text: message,
        width: 64,
        height: 48,
        size: photo.length,
        type: 'jpg',
        user: { id: sandbox.userId, screen_name: sandbox.screenName },
      };
      const published = (await uploadPhoto()).slice(0, requests.length);
      expect(published).toMatchObject(requests.map((name) => [name, 200, record]));
    });

    if (mistakes.length > 0)
      test(`learns what is wrong with the request: ${mistakes.join('; ')}`, async () => {
        const refusals = Object.entries(refused).map(([name, text]) => {
          return [name, 400, { errors: [{ code: 400, message: expect.stringMatching(text) }] }];
        });
        expect((await uploadPhoto()).slice(requests.length)).toMatchObject(refusals);
      });

    test('gets a 401 while sending 20 MB', async () => {
      const wrong = { ...sandbox, token: { ...sandbox.token, secret: 'wrong' } };
      const refusal = { errors: [{ code: 401, reason: 'credentials_refused' }] };
      const refusals = requests.map((name) => [name, 401, refusal]);
      expect(await upload(requests, largeFile, wrong as typeof sandbox)).toMatchObject(refusals);
      expect(await stack.stored('media')).toHaveLength((await stack.stored('records')).length);
    });
  });
}

// resumable-clients.test.ts breaks the connections of those that continue by themselves.
describe.each([
  { needs: 'tuspy', isFound: await canImport('tusclient'), run: runPython, program: 'tus_upload.py' },
  { needs: 'aiotus', isFound: await canImport('aiotus'), run: runPython, program: 'aiotus_upload.py' },
  { needs: 'Java libraries', isFound: await canRunJava(), run: runJava, program: 'Tus.java' },
] as const)('tus with $program', ({ needs, isFound, run, program }) => {
  test(
    'has one record of each upload, with and without the final slash',
    unlessMissing({ [needs]: isFound }),
    async () => {
      const { gateway, bearerProvider: provider } = stack;
      const authorization = 'Bearer sandbox-bearer';
      const upload = { provider, authorization, key: sandbox.apiKey, message: program, file: photoFile };
      const records = (await stack.stored('records')).length;
      const output = await run(program, { ...upload, address: `${gateway}/files/` }, `${gateway}/files`);
      const headers = { 'X-Auth-Service-Provider': provider, 'X-Verify-Credentials-Authorization': authorization };
      const urls = output.trim().split('\n');
      const published = await Promise.all(urls.map(async (url) => (await fetch(url, { headers })).json()));
      const record = { text: program, size: photo.length };
      expect(published).toMatchObject([record, record]);
      expect(await stack.stored('records')).toHaveLength(records + 2);
    },
  );
});
