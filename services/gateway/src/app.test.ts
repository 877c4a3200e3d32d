import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { gatewayApp } from './app.ts';

const defect = new Error('a defect');
const events = {
  requestFailed: vi.fn(),
  uploadStarted: vi.fn(() => {
    throw defect;
  }),
  uploadEnded: vi.fn(),
};
let server: Server;

afterEach(() => {
  server.close();
  vi.clearAllMocks();
});

/** Sends a request to the routes of a gateway whose code for uploads has a defect. */
async function send(method: string, path: string) {
  const uploads = { forms: { maxMediaBytes: 1 } };
  const gateway = {
    events,
    uploads,
    ownUploads: {},
    resumable: { ...uploads, events },
    basePaths: ['/'],
    corsOrigins: [],
  };
  const others = { trustedProxies: [], publicSite: 'https://photos.example', securityContact: undefined };
  server = createServer(gatewayApp({ ...gateway, ...others } as unknown as Parameters<typeof gatewayApp>[0]));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method });
  return { status: response.status, id: response.headers.get('x-request-id'), text: await response.text() };
}

test.each([
  ['POST', '/2/upload.xml', '<reason>internal_error</reason>'],
  ['POST', '/1/upload.json', '"reason":"internal_error"'],
  ['POST', '/files/', '"reason":"internal_error"'],
])('an unexpected error of %s %s is a 500 in the requested format, and is logged once', async (method, path, body) => {
  const { status, id, text } = await send(method, path);
  expect({ status, text }).toEqual({ status: 500, text: expect.stringContaining(body) });
  expect(events.requestFailed.mock.calls).toEqual([[id, defect]]);
});

test.each(['/%', '/%zz', '/2/media/%ff', '/files/%e0%a4%a'])(
  '%s, which is no percent-encoding, does not exist',
  async (path) => {
    expect(await send('DELETE', path)).toMatchObject({ status: 404, text: expect.stringContaining('"not_found"') });
    expect(events.requestFailed).not.toHaveBeenCalled();
  },
);
