import { createServer } from 'node:http';
import { port, readSettings, secret, text } from './env.ts';
import { listen } from './http-server.ts';
import { processSettings } from './process-settings.ts';
import { runService } from './run-service.ts';

// A minimal service for run-service.integration.test.ts. `/slow` takes half a second.
const settings = { ...processSettings(0), PORT: port(), TOKEN: secret({ minLength: 8 }), START: text('at once') };

await runService(
  'sample',
  (env) => readSettings(settings, env),
  async ({ config, log, resources, stopping }) => {
    resources.defer(() => log.info('first part closed'));
    if (config.START === 'never') await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    if (config.START === 'fails') throw new Error('no store');
    const server = createServer((request, response) => {
      setTimeout(() => response.end(config.TOKEN.toString()), request.url === '/slow' ? 500 : 0);
    });
    const { HOST: host, PORT, SHUTDOWN_GRACE_SECONDS: graceSeconds } = config;
    resources.use(await listen(server, { host, port: PORT, stopping, graceSeconds }));
    if (config.START === 'leaks') setInterval(() => {}, 1000);
    if (config.START === 'sticks') resources.defer(() => new Promise(() => {}));
  },
);
