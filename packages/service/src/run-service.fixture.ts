import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { port, readSettings, secret, text } from './env.ts';
import { processSettings } from './process-settings.ts';
import { runService } from './run-service.ts';

// A minimal service for run-service.integration.test.ts. `/slow` responds after the listener has closed, `/slow-begun` once `/slow` has begun,
// and `/go-on` ends the delay of the shutdown.
const settings = { ...processSettings(0), PORT: port(), TOKEN: secret({ minLength: 8 }), START: text('at once') };

const begun = Promise.withResolvers<void>();
const delayed = Promise.withResolvers<void>();
const { setTimeout: sleep } = timers;
const sleepUnlessDelay = (ms: number, ...rest: []) =>
  process.env['SHUTDOWN_DELAY_SECONDS'] === String(ms / 1000) ? delayed.promise : sleep(ms, ...rest);
timers.setTimeout = sleepUnlessDelay as typeof sleep;
syncBuiltinESMExports();

await runService(
  'sample',
  (env) => readSettings(settings, env),
  async ({ config, log, resources, serve }) => {
    resources.defer(() => log.info('first part closed'));
    if (config.START === 'never') await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    if (config.START === 'fails') throw new Error('no store');
    const server = createServer(async ({ url }, response) => {
      if (url === '/go-on') delayed.resolve();
      if (url === '/slow-begun') await begun.promise;
      if (url === '/slow') {
        begun.resolve();
        while (server.listening) await sleep(10);
      }
      response.end(config.TOKEN.toString());
    });
    await serve(server, config.PORT);
    if (config.START === 'crashes') {
      process.emitWarning('a warning \u009b31m');
      setTimeout(() => Promise.reject(new Error('a defect \u009b31m')), 0);
    }
    if (config.START === 'sticks') resources.defer(() => new Promise(() => {}));
  },
);
