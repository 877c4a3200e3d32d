import type { ResumableUpload } from '@echodrop/archive/resumable-uploads';
import { type Reason, refusals } from '@echodrop/contracts/refusals';
import type { Probe } from '@echodrop/media/outcomes';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { setSpanAttributes } from '@echodrop/service/tracing/trace';
import { type SlotLimit, slotLimits } from './admit/slots.ts';
import type { UploadContext } from './upload-context.ts';

export type GatewayEvents = ReturnType<typeof createGatewayEvents>;

export type UploadOutcome = 'published' | 'repeated' | 'client_gone' | Reason;

const outcomes = ['published', 'repeated', 'client_gone', ...Object.keys(refusals)];

// Includes the client's time to send.
const uploadSecondsBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];
const endMessages: Partial<Record<UploadOutcome, string>> = {
  published: 'Upload published',
  repeated: 'Repeated upload: sent the first record',
  client_gone: 'Upload aborted by client',
};

const resumableMessages: Partial<Record<UploadOutcome | 'ok', string>> = {
  ok: 'Resumable upload: request completed',
  published: 'Upload published',
  repeated: 'Repeated upload: sent the first record',
  client_gone: 'Resumable upload: connection lost',
};

const responseSecondsBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];

/** Log lines and metrics of uploads. */
export function createGatewayEvents(log: Log, metrics: Metrics) {
  return {
    ...createUploadEvents(log, metrics),
    ...createAdmissionEvents(log, metrics),
    ...createPublishingEvents(log, metrics),
  };
}

function createUploadEvents(log: Log, metrics: Metrics) {
  const uploads = metrics.counter('echodrop_uploads_total', 'Finished uploads by API version, format and outcome.', [
    'version',
    'format',
    'outcome',
  ]);
  // From the start, so that the first failure is an increase.
  for (const [version, format] of [
    [1, 'xml'],
    [1, 'json'],
    [2, 'xml'],
    [2, 'json'],
    ['tus', 'json'],
  ] as const) {
    for (const outcome of outcomes) uploads.inc({ version, format, outcome }, 0);
  }
  const resumableRequests = metrics.counter(
    'echodrop_resumable_requests_total',
    'Requests of resumable uploads by method and outcome; ok: the request succeeded and the upload goes on.',
    ['method', 'outcome'],
  );
  const running = metrics.gauge('echodrop_uploads_in_flight', 'Uploads being received or published.');
  const uploadSeconds = metrics.histogram(
    'echodrop_upload_seconds',
    'Upload duration from the request line to the response.',
    ['version', 'outcome'],
    uploadSecondsBuckets,
  );
  const publishedSeconds = metrics.histogram(
    'echodrop_upload_response_seconds',
    'Published uploads: time from the last request byte to the response.',
    ['version'],
    responseSecondsBuckets,
  );
  const publishedBytes = metrics.counter('echodrop_published_bytes_total', 'Bytes of published media.');
  return {
    uploadStarted(): void {
      running.inc();
    },
    /** A request of a resumable upload has ended: it counts as an upload if it published or was refused. */
    resumableRequestEnded(
      { requestId, startedAt, log: fields }: LoggedUpload,
      method: string,
      upload: ResumableUpload | undefined,
      outcome: UploadOutcome | 'ok',
      error?: unknown,
    ): void {
      running.dec();
      const seconds = Math.round(performance.now() - startedAt) / 1000;
      const attributes = { 'echodrop.media.id': fields.mediaId, 'echodrop.media.key': fields.mediaKey };
      setSpanAttributes({ 'echodrop.outcome': outcome, ...attributes });
      resumableRequests.inc({ method, outcome });
      const isSending = method === 'POST' || method === 'PATCH';
      if (outcome !== 'ok' && (isSending || outcome === 'published'))
        uploads.inc({ version: 'tus', format: 'json', outcome });
      if (fields.bytes !== undefined) publishedBytes.inc(fields.bytes);
      const state = { resumableId: upload?.id, offset: upload?.state.write.size, length: upload?.state.length };
      const line = { requestId, version: 'tus', method, outcome, ...state, ...fields, seconds };
      if (outcome === 'unavailable') log.error({ ...line, err: error }, 'Resumable upload: request failed');
      else log.info(line, resumableMessages[outcome] ?? 'Resumable upload: request refused');
    },
    /** `error` is what made an upload `unavailable`. */
    uploadEnded(context: LoggedUpload, outcome: UploadOutcome, error?: unknown): void {
      const { requestId, version, format, startedAt, receivedAt, log: fields } = context;
      const now = performance.now();
      const seconds = Math.round(now - startedAt) / 1000;
      const responseSeconds = receivedAt === undefined ? undefined : Math.round(now - receivedAt) / 1000;
      running.dec();
      setSpanAttributes({
        'echodrop.outcome': outcome,
        'echodrop.media.id': fields.mediaId,
        'echodrop.media.key': fields.mediaKey,
      });
      uploads.inc({ version, format, outcome });
      uploadSeconds.observe({ version, outcome }, seconds);
      if (outcome === 'published' && responseSeconds !== undefined)
        publishedSeconds.observe({ version }, responseSeconds);
      if (fields.bytes !== undefined) publishedBytes.inc(fields.bytes);
      const line = { requestId, version, format, outcome, ...fields, secondsAfterLastByte: responseSeconds, seconds };
      if (outcome === 'unavailable') log.error({ ...line, err: error }, 'Upload failed');
      else log.info(line, endMessages[outcome] ?? 'Upload refused');
    },
  };
}

function createAdmissionEvents(log: Log, metrics: Metrics) {
  const refusedRequests = metrics.counter(
    'echodrop_admission_refused_total',
    'Requests (uploads, lists and deletions of own uploads) that a limit refused before verification. docs/reference/metrics.md describes the limits.',
    ['limit'],
  );
  for (const limit of slotLimits) refusedRequests.inc({ limit }, 0);
  const bypasses = metrics.counter(
    'echodrop_rate_limit_bypassed_total',
    'Uploads admitted without rate limiting because the cache Redis was unavailable.',
  );
  return {
    /** A request was refused before anything of it was read. */
    admissionRefused(limit: SlotLimit): void {
      refusedRequests.inc({ limit });
    },
    rateLimitBypassed(error: unknown): void {
      bypasses.inc();
      log.warn({ err: error }, 'Upload admitted without rate limiting; cache Redis unavailable');
    },
    blockListFailed(error: unknown): void {
      log.warn({ err: error }, 'Failed to refresh block list');
    },
  };
}

function createPublishingEvents(log: Log, metrics: Metrics) {
  const orphans = metrics.counter(
    'echodrop_orphaned_media_total',
    'Media of failed uploads whose deletion failed too; a sweep deletes it.',
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
  const checksums = metrics.gauge(
    'echodrop_store_verifies_checksums',
    '1 if the object store verifies checksums of writes, 0 if not.',
  );
  // No series until it is known.
  checksums.remove();
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
    /** The first view enqueues the renditions. */
    enqueueFailed(mediaKey: string, error: unknown): void {
      enqueueFailures.inc();
      log.warn({ mediaKey, err: error }, 'Failed to enqueue renditions');
    },
    /** An upload is published, but missing from the listings. */
    listingFailed(mediaId: string, error: unknown): void {
      listingFailures.inc();
      log.warn(
        { mediaId, err: error },
        'Failed to write listings; a repeated upload or the next sweep adds the upload',
      );
    },
    listingRepaired(mediaId: string): void {
      listingRepairs.inc();
      log.warn({ mediaId }, 'Added an earlier upload to the listings');
    },
    storeChecked(verifiesChecksums: boolean): void {
      checksums.set(verifiesChecksums ? 1 : 0);
      if (!verifiesChecksums) log.warn('Object store does not verify checksums; corruption in transit goes undetected');
    },
    mediaOrphaned(mediaKey: string): void {
      orphans.inc();
      log.warn({ mediaKey }, 'Failed to delete media of a failed upload; the next sweep deletes it');
    },
  };
}

type LoggedUpload = Pick<UploadContext, 'requestId' | 'version' | 'format' | 'startedAt' | 'receivedAt' | 'log'>;
