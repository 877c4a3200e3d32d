import type { UnreadableRecord } from '@echodrop/record';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';

interface CompletedRequest {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /** The pattern of the route. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  /** Whether the reader got the whole response. */
  readonly complete: boolean;
}

export interface RenditionWait {
  readonly mediaKey: string;
  readonly recipe: string;
  readonly outcome: 'created' | 'unsupported' | 'not_ready';
  readonly seconds: number;
  readonly error?: unknown;
}

const waitBuckets = [0.1, 0.25, 0.5, 1, 2, 4];

export type SiteEvents = ReturnType<typeof createSiteEvents>;

/** Log lines and metrics of the site. */
export function createSiteEvents(log: Log, metrics: Metrics) {
  const waits = metrics.histogram(
    'echodrop_site_rendition_wait_seconds',
    'Time that requests waited for a missing rendition.',
    ['recipe', 'outcome'],
    waitBuckets,
  );
  const failures = metrics.counter(
    'echodrop_site_request_failures_total',
    'Failed requests by kind: store (object store unavailable), unexpected (any other error).',
    ['kind'],
  );
  // Every series exists from the start, so that the first failure is an increase.
  for (const kind of ['store', 'unexpected']) failures.inc({ kind }, 0);
  const missing = metrics.counter(
    'echodrop_site_media_missing_total',
    'Page or picture requests that found the record of an upload but not its media; should be 0.',
  );
  const unreadable = metrics.counter(
    'echodrop_site_records_unreadable_total',
    'Requests that found an unreadable record; should be 0.',
  );
  return {
    /** Browsers, and sites that embed pages, trust plain http less. */
    publicSiteUnencrypted(publicSite: string): void {
      log.warn({ publicSite }, 'PUBLIC_SITE_URL is not HTTPS');
    },
    requestCompleted(request: CompletedRequest): void {
      log.info(request, 'Request completed');
    },
    renditionAwaited({ seconds, error, ...wait }: RenditionWait): void {
      waits.observe({ recipe: wait.recipe, outcome: wait.outcome }, seconds);
      log.info({ ...wait, seconds, ...(error === undefined ? {} : { err: error }) }, 'Waited for a missing rendition');
    },
    /** A published record whose media is not in the store. */
    mediaMissing(mediaId: string, mediaKey: string): void {
      missing.inc();
      log.error({ mediaId, mediaKey }, 'Media missing from the object store');
    },
    /** A record that is unreadable or of an unknown type. Lists skip it. */
    recordUnreadable(mediaId: string, { message: reason }: UnreadableRecord): void {
      unreadable.inc();
      log.error({ mediaId, reason }, 'Record unreadable');
    },
    requestFailed(requestId: string, kind: 'store' | 'unexpected', error: unknown): void {
      failures.inc({ kind });
      log[kind === 'store' ? 'warn' : 'error']({ requestId, kind, err: error }, 'Request failed');
    },
  };
}
