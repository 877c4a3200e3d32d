import { createServer, type RequestListener, type Server } from 'node:http';
import { answerBrokenRequests } from './answer/broken-requests.ts';

/**
 * The HTTP server around the routes, which see every request: an expectation is left to the upload, which answers it once the
 * credentials are there, and a missing Host is refused as everything is; a body may take as long as its sender keeps up the pace, so Node's own limit for whole requests is off (docs/dependencies.md, "HTTP on Node").
 */
export function gatewayServer(app: RequestListener): Server {
  const server = createServer(
    {
      requestTimeout: 0,
      requireHostHeader: false,
      headersTimeout: 30_000,
      connectionsCheckingInterval: 5000,
      maxHeaderSize: 16 * 1024,
    },
    app,
  );
  server.maxHeadersCount = 100;
  answerBrokenRequests(server);
  server.on('checkContinue', app);
  server.on('checkExpectation', app);
  return server;
}
