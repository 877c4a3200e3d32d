import { setTimeout as sleep } from 'node:timers/promises';
import { ProbeClient } from '@echodrop/contracts/probe';
import { RenditionClient } from '@echodrop/contracts/rendition';
import { VerificationClient } from '@echodrop/contracts/verification-client';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { observeStore } from '@echodrop/object-store/observed-object-store';
import { PartMemory } from '@echodrop/object-store/part-memory';
import { registerBacklogMetrics } from '@echodrop/queue/queue-clients';
import { limitResponses } from '@echodrop/service/limit-responses';
import { failoverMsOf } from '@echodrop/service/redis/failover';
import { cacheRedis, checkRedis, connectRedis, failFast, queueRedis } from '@echodrop/service/redis/redis';
import { registerQueueMemoryMetrics } from '@echodrop/service/redis/redis-memory';
import { watchQueueRedis } from '@echodrop/service/redis/watch-queue-redis';
import { runService } from '@echodrop/service/run-service';
import { Forgeries } from '@echodrop/service/seals/forgeries';
import { traceRequests } from '@echodrop/service/tracing/trace';
import { LRUCache } from 'lru-cache';
import { Admission } from './admit/admission.ts';
import { ApiKeys } from './admit/api-keys.ts';
import { BlockList } from './admit/block-list.ts';
import { Slots } from './admit/slots.ts';
import { UnverifiedMemory } from './admit/unverified-memory.ts';
import { UploadRates } from './admit/upload-rates.ts';
import { gatewayApp } from './app.ts';
import { limitsTimeoutMs, readConfig, verificationDeadlineMs } from './config.ts';
import { createGatewayEvents } from './events.ts';
import { gatewayServer } from './gateway-server.ts';
import { OncePublisher } from './idempotency/idempotency.ts';
import { IdempotencyClaims } from './idempotency/idempotency-claims.ts';
import { createOwnUploadEvents } from './own-uploads/own-upload-events.ts';
import { Publisher } from './publish/publish.ts';
import { WriterLeases } from './resumable/writer-leases.ts';
import { registerSweepMetrics } from './sweep-metrics.ts';

// How long a start waits for the store.
const storeCheckMs = 2000;

await runService('gateway', readConfig, async ({ config, log, metrics, health, resources, serve }) => {
  const events = createGatewayEvents(log, metrics);
  const forgeries = new Forgeries(log, metrics);
  const memory = new PartMemory(config.UPLOAD_BUFFER_BYTES);
  const storeOptions = { memory, isStrict: true, onProbed: events.storeProbed };
  const store = resources.use(observeStore(await objectStoreFromSettings(config, storeOptions), metrics));
  const limitsRedis = resources.use(
    connectRedis(cacheRedis(config), { ...failFast, commandTimeout: limitsTimeoutMs }, log.child({ redis: 'cache' })),
  );
  const redis = resources.use(watchQueueRedis(queueRedis(config), log));
  const claimsRedis = resources.use(connectRedis(redis, failFast, log.child({ redis: 'queue' })));
  const queues = { redis, log, forgeries };
  const probes = resources.use(new ProbeClient({ ...queues, secret: config.PROBE_QUEUE_SECRET }));
  const verifier = resources.use(
    new VerificationClient({
      address: config.VERIFIER_URL,
      secret: config.VERIFIER_SECRET,
      deadlineMs: verificationDeadlineMs,
    }),
  );
  const forms = {
    store,
    onOrphan: events.mediaOrphaned,
    maxMediaBytes: config.MAX_MEDIA_BYTES,
    typesOff: config.MEDIA_TYPES_OFF,
    maxUploadSeconds: config.MAX_UPLOAD_SECONDS,
    compatibility: config.CLIENT_COMPATIBILITY,
  };
  const renditions = resources.use(new RenditionClient({ ...queues, secret: config.RENDITION_QUEUE_SECRET }));
  const { PROBE_TIMEOUT_MS: probeTimeoutMs } = config;
  const mediaLimits = { maxPixels: config.MAX_PIXELS, typesOff: config.MEDIA_TYPES_OFF };
  const blocks = resources.use(new BlockList(store, events));
  const publisher = new Publisher({ store, probes, probeTimeoutMs, mediaLimits, renditions, blocks, events });
  const claims = new IdempotencyClaims(claimsRedis, {
    maxHoldMs: publisher.maxMs,
    failoverMs: failoverMsOf(redis.url),
    secret: config.VERIFIER_SECRET,
    forgeries,
  });
  const perMinute = { perUser: config.UPLOADS_PER_MINUTE_PER_USER, perKey: config.UPLOADS_PER_MINUTE_PER_KEY };
  // The limits of requests without a verified caller follow from those of all.
  const limits = {
    slots: config.MAX_CONCURRENT_UPLOADS,
    perUser: config.MAX_CONCURRENT_UPLOADS_PER_USER,
    anonymousPerAddress: Math.ceil(config.MAX_CONCURRENT_UPLOADS / 10),
    // Many users may share the address of a school or a mobile network.
    failuresPerMinutePerAddress: 1000,
  };
  const admission = new Admission({
    slots: new Slots(limits, events.admissionRefused),
    memory: new UnverifiedMemory(Math.floor(config.UPLOAD_BUFFER_BYTES / 4)),
    rates: new UploadRates(limitsRedis, perMinute, events),
    probes,
    probeTimeoutMs,
    blocks,
  });
  const uploads = {
    admission,
    verifier,
    forms,
    publisher: new OncePublisher(publisher, claims),
    apiKeys: new ApiKeys(config.API_KEYS, config.WEB_UPLOAD_API_KEY),
  };
  const app = gatewayApp({
    uploads,
    resumable: {
      ...uploads,
      store,
      events,
      records: publisher,
      lastStates: new LRUCache({ max: 10_000 }),
      leases: new WriterLeases(claimsRedis, failoverMsOf(redis.url)),
      publicSite: config.PUBLIC_SITE_URL,
      publicUpload: config.PUBLIC_UPLOAD_URL,
    },
    ownUploads: {
      slots: new Slots(limits, events.admissionRefused),
      verifier,
      store,
      compatibility: config.CLIENT_COMPATIBILITY,
      events: createOwnUploadEvents(log, metrics),
    },
    events,
    basePaths: config.BASE_PATHS,
    publicSite: config.PUBLIC_SITE_URL,
    corsOrigins: config.CORS_ORIGINS,
    trustedProxies: config.TRUSTED_PROXIES,
    securityContact: config.SECURITY_CONTACT,
  });
  registerBacklogMetrics(metrics, [probes, renditions]);
  registerQueueMemoryMetrics(metrics, claimsRedis);
  registerSweepMetrics(metrics, store);
  health.addCheck('store', () => store.ready());
  health.addCheck('blocks', () => blocks.ready());
  // This is the queue Redis.
  health.addCheck('queue', () => probes.ready());
  health.addCheck('verifier', () => verifier.ready());
  // Without the cache Redis, every upload is verified again, and rates per user and API key are not limited.
  health.addOptionalCheck('cache', () => checkRedis(limitsRedis));
  await Promise.race([store.ready().catch(() => {}), sleep(storeCheckMs, undefined, { ref: false })]);
  await serve(gatewayServer(limitResponses(traceRequests(app), metrics, log)), config.PORT);
});
