import { createServer } from 'node:http';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { listen } from '@echodrop/testkit/servers/listen';
import { siteApp } from './app.ts';
import { createSiteEvents } from './events.ts';
import { ReadMemory } from './find/read-memory.ts';
import type { Site } from './site.ts';

type Options = Pick<Site, 'store'> & Partial<Site> & Pick<Site['renditions'], 'make'>;

/** Serves the site in this process until `resources` is disposed of. @returns its origin */
export async function serveSite(resources: AsyncDisposableStack, { make, ...site }: Options): Promise<string> {
  const app = siteApp({
    memory: new ReadMemory(),
    renditions: { make },
    videoProgress: async () => undefined,
    trustedProxies: [],
    events: createSiteEvents(createLog('site', 'silent'), new Metrics('site')),
    publicSite: 'https://pics.example',
    name: 'Pictures',
    robots: 'noindex',
    hasOembedDiscovery: false,
    ...site,
  });
  return resources.use(await listen(createServer(app))).origin;
}
