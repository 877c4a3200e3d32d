import { createServer } from 'node:http';
import { RenditionClient } from '@echodrop/contracts/rendition';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { listen } from '@echodrop/service/http-server';
import { queueRedisUrl } from '@echodrop/service/redis';
import { runService } from '@echodrop/service/run-service';
import { siteApp } from './app.ts';
import { readConfig } from './config.ts';
import { siteEvents } from './events.ts';

// How long a connection may stand still, a reader's player that was paused included.
const idleMs = 60_000;

await runService('site', readConfig, async ({ config, log, metrics, health, parts, stopping }) => {
  const store = parts.use(objectStoreFromSettings(config));
  // The queue is not needed: what was made once is shown without it.
  health.needs('store', () => store.ready());

  const renditions = parts.use(new RenditionClient({ url: queueRedisUrl(config), log }));
  const app = siteApp({ store, renditions, events: siteEvents(log, metrics) });

  const server = createServer(app).setTimeout(idleMs);
  const { HOST: host, PORT: port, SHUTDOWN_GRACE_SECONDS: graceSeconds } = config;
  parts.use(await listen(server, { host, port, stopping, graceSeconds }));
});
