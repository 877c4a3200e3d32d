import { startRenditionWorkers } from '@echodrop/contracts/rendition';
import { prepareTools } from '@echodrop/media/sandbox/prepare-tools';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { observeStore } from '@echodrop/object-store/observed-object-store';
import { queueRedis } from '@echodrop/service/redis/redis';
import { watchQueueRedis } from '@echodrop/service/redis/watch-queue-redis';
import { runService } from '@echodrop/service/run-service';
import { createScratchFolder } from '@echodrop/service/scratch-folder';
import { Forgeries } from '@echodrop/service/seals/forgeries';
import { jobsAtOnce, readConfig } from './config.ts';
import { createRenditionEvents } from './events.ts';
import { endFailedJob } from './failed-job.ts';
import { laneLimits } from './lane-limits.ts';
import { render } from './render.ts';
import { MediaRemoved } from './run-unless-removed.ts';
import { toolsHash } from './unsupported-renditions.ts';

await runService('rendition-worker', readConfig, async ({ config, log, metrics, health, resources }) => {
  const store = resources.use(observeStore(await objectStoreFromSettings(config), metrics));
  health.addCheck('store', () => store.ready());

  const events = createRenditionEvents(log, metrics);
  const { MAX_PIXELS: maxPixels, MEDIA_TYPES_OFF: typesOff } = config;
  const scratch = resources.use(await createScratchFolder(config.SCRATCH_DIR, 'rendition-worker'));
  const tools = toolsHash(await prepareTools({ config, log, metrics, health }), maxPixels);
  const deps = { store, scratchDir: scratch.path, maxPixels, typesOff, tools, events };
  const redis = resources.use(watchQueueRedis(queueRedis(config), log));
  const queues = startRenditionWorkers(
    {
      ...jobsAtOnce(config.CONCURRENCY),
      graceSeconds: config.SHUTDOWN_GRACE_SECONDS,
      render: (request, signal, lane, onProgress) =>
        render(request, signal, { ...deps, limits: laneLimits[lane], onProgress }),
      onEnd(end, request) {
        events.jobEnded(end, request);
        if (!request || end.outcome !== 'failed' || end.error instanceof MediaRemoved) return;
        endFailedJob(request, end.isDeadly ?? false, deps);
      },
    },
    { redis, secret: config.RENDITION_QUEUE_SECRET, log, forgeries: new Forgeries(log, metrics) },
  );
  // The queues stop in parallel, so that no queue takes jobs while another stops.
  resources.defer(() => Promise.all(queues.map((queue) => queue[Symbol.asyncDispose]())).then(() => {}));
  health.addCheck('queue', () => Promise.all(queues.map((queue) => queue.ready())));
});
