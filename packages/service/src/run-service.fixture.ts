import { createServer } from 'node:http';
import { port, readSettings, secret, text } from './env.ts';
import { processSettings } from './process-settings.ts';
import { runService } from './run-service.ts';

// A minimal service for run-service.integration.test.ts. `/slow` takes half a second.
const settings = { ...processSettings(0), PORT: port(), TOKEN: secret({ minLength: 8 }), START: text('at once') };

await runService(
  'sample',
  (env) => readSettings(settings, env),
  async ({ config, log, resources, serve }) => {
    resources.defer(() => log.info('first part closed'));
    if (config.START === 'never') await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    if (config.START === 'fails') throw new Error('no store');
    const server = createServer((request, response) => {
      setTimeout(() => response.end(config.TOKEN.toString()), request.url === '/slow' ? 500 : 0);
    });
    await serve(server, config.PORT);
    if (config.START === 'leaks') setInterval(() => {}, 1000);
    if (config.START === 'sticks') resources.defer(() => new Promise(() => {}));
  },
);
