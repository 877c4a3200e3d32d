import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { ClientGone } from '../response/refusal-error.ts';
import { readIncomingBytes } from './incoming-bytes.ts';

const limits = { maxBytes: 1000, minBytesPerSecond: 1, maxSeconds: 60 };

test('a client that disconnects before its bytes are read ends their reading, not the process', async () => {
  const request = new PassThrough();
  const { source } = readIncomingBytes(request as unknown as IncomingMessage, limits, () => {});
  request.destroy(new Error('aborted'));
  // `once` would listen for errors, too.
  await new Promise((resolve) => source.on('close', resolve));
  await expect(buffer(source)).rejects.toThrow(ClientGone);
});
