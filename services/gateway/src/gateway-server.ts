import { createServer, type RequestListener, type Server } from 'node:http';
import { answerBrokenRequests } from './answer/broken-requests.ts';

/**
 * The HTTP server around the routes. The routes handle `Expect`, so that uploads send 100 Continue after their first checks, and a missing
 * Host. Node's limit for whole requests is off: bodies have limits of their own (docs/dependencies.md, "HTTP on Node").
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
