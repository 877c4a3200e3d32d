import { isDeepStrictEqual } from 'node:util';
import type { Probe } from '@echodrop/media/outcomes';
import { limitationsOf, type StoreCapabilities } from '@echodrop/object-store/store-capabilities';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { Outages } from '@echodrop/service/outages';
import { type SlotLimit, slotLimits } from './admit/slots.ts';
import { createUploadEvents } from './upload-events.ts';

export type GatewayEvents = ReturnType<typeof createGatewayEvents>;

/** Log lines and metrics of admission, publishing and the store. Those of each upload and its refusal are in upload-events.ts. */
export function createGatewayEvents(log: Log, metrics: Metrics) {
  return {
    ...createUploadEvents(log, metrics),
    ...createAdmissionEvents(log, metrics),
    ...createPublishingEvents(log, metrics),
    /** An error that no route handles. The response is 500, which `echodrop_http_internal_errors_total` counts. */
    requestFailed(requestId: string, error: unknown): void {
      log.error({ requestId, err: error }, 'Request failed');
    },
  };
}

function createAdmissionEvents(log: Log, metrics: Metrics) {
  const refusedRequests = metrics.counter(
    'echodrop_admission_refused_total',
    'Requests refused by a limit before verification. Includes requests to list or delete own uploads. docs/reference/metrics.md describes the limits.',
    ['limit'],
  );
  for (const limit of slotLimits) refusedRequests.inc({ limit }, 0);
  const bypasses = metrics.counter(
    'echodrop_rate_limit_bypassed_total',
    'Uploads admitted without rate limiting because the cache Redis was unavailable.',
  );
  const withoutLimits = new Outages(log, {
    begin: 'Uploads admitted without rate limiting; cache Redis unavailable',
    end: 'Uploads are rate limited again',
    // A slow Redis may miss the time limit now and then. The metric counts such commands.
    graceMs: 1000,
  });
  const blockList = new Outages(log, { begin: 'Failed to refresh block list', end: 'Block list refreshed again' });
  return {
    /** A request was refused before anything of it was read. */
    admissionRefused(limit: SlotLimit): void {
      refusedRequests.inc({ limit });
    },
    rateLimitBypassed(error: unknown): void {
      bypasses.inc();
      withoutLimits.report('', error);
    },
    rateLimited(): void {
      withoutLimits.end('');
    },
    blockListFailed(error: unknown): void {
      blockList.report('', error);
    },
    blockListRefreshed(): void {
      blockList.end('');
    },
  };
}

function createPublishingEvents(log: Log, metrics: Metrics) {
  const orphans = metrics.counter(
    'echodrop_orphaned_media_total',
    'Media left in the store because an upload failed and its media could not be deleted; a sweep deletes it.',
  );
  const enqueueFailures = metrics.counter(
    'echodrop_rendition_enqueue_failures_total',
    'Uploads whose renditions could not be enqueued; the first view enqueues them.',
  );
  const listingFailures = metrics.counter(
    'echodrop_listing_failures_total',
    'Published uploads missing from the listings (by user and by time) because the write failed.',
  );
  const listingRepairs = metrics.counter(
    'echodrop_listing_repairs_total',
    'Uploads that were missing from the listings and were added when a client repeated the upload.',
  );
  const capabilities = metrics.gauge(
    'echodrop_store_capability',
    '1 if the object store has the capability, 0 if not (docs/why/reliability.md).',
    ['capability'],
  );
  let probed: StoreCapabilities | undefined;
  const probeResults = metrics.counter(
    'echodrop_probe_results_total',
    'Media that this service probed, by type or, if unsupported, by reason.',
    ['result'],
  );
  return {
    /** Media was probed in this process. */
    mediaProbed(probe: Probe): void {
      probeResults.inc({ result: probe.outcome === 'media' ? probe.type : probe.why });
    },
    /** Renditions were not enqueued. The first view enqueues them. */
    enqueueFailed(mediaKey: string, error: unknown): void {
      enqueueFailures.inc();
      log.warn({ mediaKey, err: error }, 'Failed to enqueue renditions');
    },
    /** An upload is published, but missing from the listings. */
    listingFailed(mediaId: string, error: unknown): void {
      listingFailures.inc();
      log.warn(
        { mediaId, err: error },
        'Failed to add the upload to the listings; the next sweep, or a repeat of this upload, adds it',
      );
    },
    listingRepaired(mediaId: string): void {
      listingRepairs.inc();
      log.warn({ mediaId }, 'Added an earlier upload to the listings');
    },
    /** A probe of the store has ended. The log gets the first result and each change. */
    storeProbed(found: StoreCapabilities): void {
      if (isDeepStrictEqual(found, probed)) return;
      probed = found;
      const { checksums, hasHardLinks, hasDirectorySync } = found;
      const has = {
        conditional_writes: found.hasConditionalWrites,
        verified_writes: checksums !== 'none',
        repeated_writes: found.hasRepeatedWrites,
        compared_parts: found.comparesParts,
        final_tags: found.hasFinalTags,
        immediate_lists: found.hasImmediateLists,
        ...(hasHardLinks !== undefined && { hard_links: hasHardLinks }),
        ...(hasDirectorySync !== undefined && { directory_sync: hasDirectorySync }),
      };
      for (const [capability, isThere] of Object.entries(has)) capabilities.set({ capability }, isThere ? 1 : 0);
      const limitations = limitationsOf(found);
      if (limitations.length === 0) log.info({ checksums }, 'Object store probed: it has all capabilities');
      else log.warn({ checksums, limitations }, 'Object store probed: it lacks capabilities');
    },
    mediaOrphaned(mediaKey: string): void {
      orphans.inc();
      log.warn({ mediaKey }, 'Media of a failed upload may remain; the next sweep deletes it');
    },
  };
}
