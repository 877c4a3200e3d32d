import { createServer } from 'node:http';
import { runService } from '@echodrop/service/run-service';
import { traceRequests } from '@echodrop/service/tracing/trace';
import { sandboxApp } from './app.ts';
import { readConfig } from './config.ts';

const usage = `Usage: npm run sandbox

Runs the sandbox identity provider alone, for tests. Ctrl-C stops it. Settings are environment variables
(docs/reference/settings.md#sandbox-provider); none is required.
`;

const args = process.argv.slice(2);
if (args.length > 0) {
  const isHelp = ['--help', '-h'].includes(args[0] ?? '');
  (isHelp ? process.stdout : process.stderr).write(usage);
  process.exit(isHelp ? 0 : 64);
}
await runService('sandbox-provider', readConfig, async ({ config, log, serve }) => {
  const app = sandboxApp({
    accounts: config.SANDBOX_USERS_FILE,
    siteName: config.SITE_NAME,
    log,
  });
  await serve(createServer(traceRequests(app)), config.PORT);
});
