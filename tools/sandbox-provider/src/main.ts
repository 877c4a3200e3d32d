import { createServer } from 'node:http';
import { runService } from '@echodrop/service/run-service';
import { traceRequests } from '@echodrop/service/tracing/trace';
import { sandboxApp } from './app.ts';
import { readConfig } from './config.ts';
import { createSandboxEvents } from './events.ts';

await runService('sandbox-provider', readConfig, async ({ config, log, metrics, serve }) => {
  const app = sandboxApp({
    accounts: config.SANDBOX_USERS_FILE,
    siteName: config.SITE_NAME,
    behaviour: { behaviour: config.SANDBOX_BEHAVIOUR, slowSeconds: config.SANDBOX_SLOW_SECONDS },
    events: createSandboxEvents(log, metrics),
  });
  await serve(createServer(traceRequests(app)), config.PORT);
});
