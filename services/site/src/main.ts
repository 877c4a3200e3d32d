import { createServer } from 'node:http';
import { RenditionClient } from '@echodrop/contracts/rendition';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { observeStore } from '@echodrop/object-store/observed-object-store';
import { limitResponses } from '@echodrop/service/limit-responses';
import { queueRedis } from '@echodrop/service/redis/redis';
import { watchQueueRedis } from '@echodrop/service/redis/watch-queue-redis';
import { runService } from '@echodrop/service/run-service';
import { Forgeries } from '@echodrop/service/seals/forgeries';
import { traceRequests } from '@echodrop/service/tracing/trace';
import { siteApp } from './app.ts';
import { readConfig, type SiteConfig } from './config.ts';
import { createSiteEvents } from './events.ts';
import { ReadMemory } from './find/read-memory.ts';
import { SharedRenditions } from './find/shared-renditions.ts';
import type { WebUpload } from './site.ts';

await runService('site', readConfig, async ({ config, log, metrics, health, resources, serve }) => {
  const store = resources.use(observeStore(await objectStoreFromSettings(config), metrics));
  health.addCheck('store', () => store.ready());

  const queue = {
    redis: resources.use(watchQueueRedis(queueRedis(config), log)),
    secret: config.RENDITION_QUEUE_SECRET,
    log,
    forgeries: new Forgeries(log, metrics),
  };
  const client = resources.use(new RenditionClient(queue));
  // Pages with existing renditions need no queue.
  health.addOptionalCheck('queue', () => client.ready());
  const events = createSiteEvents(log, metrics);
  if (!isTrustworthy(config.PUBLIC_SITE_URL)) events.publicSiteUnencrypted(config.PUBLIC_SITE_URL);
  const app = siteApp({
    store,
    memory: new ReadMemory(),
    renditions: new SharedRenditions(client, store),
    videoProgress: (media) => client.videoProgress(media),
    events,
    publicSite: config.PUBLIC_SITE_URL,
    name: config.SITE_NAME,
    abuseContact: config.ABUSE_CONTACT,
    securityContact: config.SECURITY_CONTACT,
    robots: config.ROBOTS,
    trustedProxies: config.TRUSTED_PROXIES,
    hasOembedDiscovery: config.OEMBED_DISCOVERY === '1',
    upload: webUpload(config),
  });

  await serve(createServer(limitResponses(traceRequests(app), metrics, log)), config.PORT);
});

function webUpload(config: SiteConfig): WebUpload | undefined {
  const { WEB_UPLOAD, UPLOAD_URL, WEB_UPLOAD_API_KEY, WEB_SIGN_IN, MAX_MEDIA_BYTES } = config;
  if (WEB_UPLOAD !== '1' || UPLOAD_URL === undefined) return undefined;
  return {
    address: UPLOAD_URL,
    maxBytes: MAX_MEDIA_BYTES,
    apiKey: WEB_UPLOAD_API_KEY,
    signIn: WEB_SIGN_IN,
  };
}

/** HTTPS, or an address of this machine. */
function isTrustworthy(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || /^(127\.[\d.]+|\[::1\]|(.+\.)?localhost)$/.test(hostname);
}
