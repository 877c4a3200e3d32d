import { createServer } from 'node:http';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { listen } from '@echodrop/testkit/servers/listen';
import { siteApp } from './app.ts';
import { createSiteEvents } from './events.ts';
import { ReadMemory } from './find/read-memory.ts';
import type { Site } from './site.ts';

interface Options {
  readonly store: ObjectStore;
  readonly make: Site['renditions']['make'];
  readonly videoProgress?: Site['videoProgress'];
  readonly trustedProxies?: readonly string[];
}

/** Serves the site in this process until `resources` is disposed of. @returns its origin */
export async function serveSite(
  resources: AsyncDisposableStack,
  { store, make, videoProgress = async () => undefined, trustedProxies = [] }: Options,
): Promise<string> {
  const app = siteApp({
    store,
    memory: new ReadMemory(),
    renditions: { make },
    videoProgress,
    trustedProxies,
    events: createSiteEvents(createLog('site', 'silent'), new Metrics('site')),
    publicSite: 'https://pics.example',
    name: 'Pictures',
    robots: 'noindex',
    hasOembedDiscovery: false,
  });
  return resources.use(await listen(createServer(app))).origin;
}
