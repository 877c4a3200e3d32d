import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { ClientGone, mediaTooLarge } from '../response/refusal-error.ts';
import { readIncomingBytes } from './append-bytes.ts';

const limits = { maxBytes: 1000, tooLarge: () => mediaTooLarge(1000), maxUploadSeconds: 60 };

test('a client that disconnects before its bytes are read ends their reading, not the process', async () => {
  const request = new PassThrough();
  const { source } = readIncomingBytes(request as unknown as IncomingMessage, limits, () => {});
  request.destroy(new Error('aborted'));
  // `once` would listen for errors, too.
  await new Promise((resolve) => source.on('close', resolve));
  await expect(buffer(source)).rejects.toThrow(ClientGone);
});

test('a client is silent once it has sent nothing for a second', () => {
  let now = 0;
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const request = new PassThrough();
  const { source, isSilent } = readIncomingBytes(request as unknown as IncomingMessage, limits, () => {});
  source.on('error', () => {}).resume();
  now = 1000;
  expect(isSilent()).toBe(false);
  now = 1001;
  expect(isSilent()).toBe(true);
  request.emit('data', Buffer.from('x'));
  expect(isSilent()).toBe(false);
  source.destroy();
});
