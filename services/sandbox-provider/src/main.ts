import { createServer } from 'node:http';
import { listen } from '@echodrop/service/http-server';
import { runService } from '@echodrop/service/run-service';
import { sandboxApp } from './app.ts';
import { readConfig } from './config.ts';

await runService('sandbox-provider', readConfig, async ({ config, log, parts, stopping }) => {
  const { HOST: host, PORT: port, SHUTDOWN_GRACE_SECONDS: graceSeconds } = config;
  parts.use(await listen(createServer(sandboxApp(log)), { host, port, stopping, graceSeconds }));
});
