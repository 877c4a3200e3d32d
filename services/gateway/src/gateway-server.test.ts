import { RawClient } from '@echodrop/testkit/raw-client';
import { listen } from '@echodrop/testkit/servers/listen';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { gatewayServer } from './gateway-server.ts';

test('a request whose head does not end gets 408, and loses its connection', async () => {
  const server = gatewayServer(() => expect.unreachable());
  // Node then ends it at its next check, within five seconds.
  server.headersTimeout /= 100;
  await using listening = await listen(server);
  await using client = await RawClient.connect(listening.origin);
  client.write('POST /2/upload.json HTTP/1.1\r\nHost: gateway\r\n');
  expect(await client.response()).toMatchObject({ status: 408, body: expect.stringContaining('"too_slow"') });
  await waitUntil('the end of the connection', async () => client.closed);
});
