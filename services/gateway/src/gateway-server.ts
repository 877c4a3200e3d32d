import { createServer, type Server } from 'node:http';
import type { Express } from 'express';
import { answerRefusal } from './answer.ts';
import { answerBrokenRequests } from './broken-requests.ts';
import { Refusal } from './refusals.ts';

/**
 * The HTTP server around the routes. `Expect: 100-continue` is left to the upload, which answers it once the credentials are
 * there; a body may take as long as its sender keeps up the pace, so Node's own limit for whole requests is off (TRAPS, HTTP on Node).
 */
export function gatewayServer(app: Express): Server {
  const server = createServer({ requestTimeout: 0, headersTimeout: 30_000, maxHeaderSize: 16 * 1024 }, app);
  server.maxHeadersCount = 100;
  answerBrokenRequests(server);
  server.on('checkContinue', app);
  server.on('checkExpectation', (request, response) => {
    answerRefusal(request, response, 'json', new Refusal('expectation_failed'));
  });
  return server;
}
