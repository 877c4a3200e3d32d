import { createServer, type ServerResponse } from 'node:http';
import type { Health } from './health.ts';
import type { Metrics } from './metrics/metrics.ts';

/** The server behind OPS_PORT: `/livez` (the process runs), `/readyz` (it may be sent work), `/metrics` (Prometheus). */
export function createOpsServer(health: Health, metrics: Metrics) {
  return createServer(async (request, response) => {
    switch (request.url) {
      case '/livez':
        return answer(response, 200, 'text/plain; charset=utf-8', 'ok\n');
      case '/readyz': {
        const report = await health.report();
        return answer(
          response,
          report.ready ? 200 : 503,
          'application/json; charset=utf-8',
          `${JSON.stringify(report)}\n`,
        );
      }
      case '/metrics': {
        const { contentType, text } = await metrics.exposition();
        return answer(response, 200, contentType, text);
      }
      default:
        return answer(response, 404, 'text/plain; charset=utf-8', 'not found\n');
    }
  });
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}
