import { startProbeWorkers } from '@echodrop/contracts/probe';
import { prepareTools } from '@echodrop/media/sandbox/prepare-tools';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { observeStore } from '@echodrop/object-store/observed-object-store';
import { queueRedis } from '@echodrop/service/redis/redis';
import { watchQueueRedis } from '@echodrop/service/redis/watch-queue-redis';
import { runService } from '@echodrop/service/run-service';
import { createScratchFolder } from '@echodrop/service/scratch-folder';
import { Forgeries } from '@echodrop/service/seals/forgeries';
import { readConfig, videosBeside } from './config.ts';
import { createProbeEvents } from './events.ts';
import { probe } from './probe.ts';

await runService('probe-worker', readConfig, async ({ config, log, metrics, health, resources }) => {
  const store = resources.use(observeStore(await objectStoreFromSettings(config), metrics));
  health.addCheck('store', () => store.ready());

  const events = createProbeEvents(log, metrics);
  const { MAX_PIXELS: maxPixels, MEDIA_TYPES_OFF: typesOff } = config;
  await prepareTools({ config, log, metrics, health });
  const scratch = resources.use(await createScratchFolder(config.SCRATCH_DIR, 'probe-worker'));
  const deps = { store, scratchDir: scratch.path, maxPixels, typesOff, events };
  const redis = resources.use(watchQueueRedis(queueRedis(config), log));
  const queues = startProbeWorkers(
    {
      photoConcurrency: config.CONCURRENCY,
      videoConcurrency: videosBeside(config.CONCURRENCY),
      graceSeconds: config.SHUTDOWN_GRACE_SECONDS,
      probe: (request, signal) => probe(request, signal, deps),
      onEnd: events.jobEnded,
    },
    { redis, secret: config.PROBE_QUEUE_SECRET, log, forgeries: new Forgeries(log, metrics) },
  );
  // The queues stop in parallel, so that no queue takes jobs while another stops.
  resources.defer(() => Promise.all(queues.map((queue) => queue[Symbol.asyncDispose]())).then(() => {}));
  health.addCheck('queue', () => Promise.all(queues.map((queue) => queue.ready())));
});
