import { createServer } from 'node:http';
import { listen } from '@echodrop/service/http-server';
import { registerHttpMetrics } from '@echodrop/service/metrics/http-metrics';
import { runService } from '@echodrop/service/run-service';
import { traceRequests } from '@echodrop/service/tracing/trace';
import { sandboxApp } from './app.ts';
import { readConfig } from './config.ts';
import { createSandboxEvents } from './events.ts';

await runService('sandbox-provider', readConfig, async ({ config, log, metrics, resources: parts, stopping }) => {
  const app = sandboxApp({
    accounts: config.SANDBOX_USERS_FILE,
    siteName: config.SITE_NAME,
    behaviour: { behaviour: config.SANDBOX_BEHAVIOUR, slowSeconds: config.SANDBOX_SLOW_SECONDS },
    events: createSandboxEvents(log, metrics),
  });
  const { HOST: host, PORT: port, SHUTDOWN_GRACE_SECONDS: graceSeconds } = config;
  const server = createServer(traceRequests(app));
  registerHttpMetrics(metrics, server);
  parts.use(await listen(server, { host, port, stopping, graceSeconds }));
});
