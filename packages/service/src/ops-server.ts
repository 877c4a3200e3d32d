import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Health } from './health.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';

/** The server on OPS_PORT: `/livez`, `/readyz` and `/metrics` (Prometheus). */
export function createOpsServer(health: Health, metrics: Metrics, log: Pick<Log, 'error'>) {
  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    switch (request.url) {
      case '/livez':
        return respond(response, 200, 'text/plain; charset=utf-8', 'ok\n');
      case '/readyz': {
        const report = await health.report();
        const body = `${JSON.stringify(report)}\n`;
        return respond(response, report.ready ? 200 : 503, 'application/json; charset=utf-8', body);
      }
      case '/metrics': {
        const { contentType, text } = await metrics.exposition();
        return respond(response, 200, contentType, text);
      }
      default:
        return respond(response, 404, 'text/plain; charset=utf-8', 'not found\n');
    }
  };
  return createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'Request failed');
      respond(response, 500, 'text/plain; charset=utf-8', 'failed; the log says why\n');
    });
  });
}

function respond(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}
