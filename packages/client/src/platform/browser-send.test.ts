import { expect, test, vi } from 'vitest';
import { EchodropClient } from '../browser.ts';

const options = {
  service: 'https://upload.example',
  apiKey: 'key',
  retries: 0,
  provider: 'https://social.example/verify',
  credentials: { bearer: 'token' },
};

test.each([
  [205, 'The service responded with 205.'],
  [304, 'The service responded with 304.'],
  [600, 'No response from the upload service.'],
])('an upload ends on status %d', async (status, message) => {
  // Browsers deliver such a response; Node servers and fetch do not.
  class XhrStub {
    readonly upload = {};
    readonly status = status;
    readonly response = new ArrayBuffer(0);
    readonly responseURL = 'https://upload.example/2/upload.json';
    onload = () => {};
    open() {}
    setRequestHeader() {}
    getAllResponseHeaders = () => '';
    // Browsers report errors of listeners and continue.
    send = () =>
      queueMicrotask(
        () =>
          void Promise.resolve()
            .then(this.onload)
            .catch(() => {}),
      );
  }
  vi.stubGlobal('XMLHttpRequest', XhrStub);
  const client = new EchodropClient(options);
  await expect(client.upload(new Blob(['photo']), { onProgress() {} })).rejects.toThrow(message);
});

test('an abort ends the reading of a stream', async () => {
  const cancelled = Promise.withResolvers<unknown>();
  const stream = new ReadableStream({ cancel: cancelled.resolve });
  const stop = new AbortController();
  const uploading = new EchodropClient(options).upload(stream, { signal: stop.signal });
  stop.abort(new Error('stopped'));
  await expect(uploading).rejects.toThrow('stopped');
  expect(await cancelled.promise).toEqual(new Error('stopped'));
});

test.each([
  ['that fails', new ReadableStream({ pull: (controller) => controller.error(new Error('disk gone')) }), 'disk gone'],
  ['of texts', new Blob(['photo']).stream().pipeThrough(new TextDecoderStream()), 'Chunks of a stream must be bytes'],
])('a stream %s ends the upload with its error', async (_, stream, message) => {
  const cause = { message: expect.stringContaining(message) };
  await expect(new EchodropClient(options).upload(stream as ReadableStream)).rejects.toMatchObject({ cause });
});
