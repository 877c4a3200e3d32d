import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';

export interface Answer {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /** The pattern of the route, of which there are a handful. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  /** Whether the reader stayed to its end. */
  readonly complete: boolean;
}

export interface Wait {
  readonly mediaKey: string;
  readonly recipe: string;
  readonly outcome: 'made' | 'unsupported' | 'not_ready';
  readonly seconds: number;
  readonly error?: unknown;
}

/** Everything the site tells of itself. */
export interface SiteEvents {
  /** Pages name addresses that are not encrypted: browsers, and sites that show them, trust those less. */
  publicSiteUnencrypted(publicSite: string): void;
  answered(answer: Answer): void;
  /** A rendition was missing and has been waited for. */
  renditionAwaited(wait: Wait): void;
  /** A record names media that is not in the store, and nobody took it down: an alarm. */
  mediaMissing(mediaId: string, mediaKey: string): void;
  /** A record cannot be read, or is of a type that nobody knows: in a list it is passed over, else nothing can be shown. */
  recordUnreadable(mediaId: string): void;
  /** A request could not be answered: the store is out of reach, or something happened that nobody expected. */
  requestFailed(requestId: string, kind: 'store' | 'unexpected', error: unknown): void;
}

const waitBuckets = [0.1, 0.25, 0.5, 1, 2, 4];

export function createSiteEvents(log: Log, metrics: Metrics): SiteEvents {
  const waits = metrics.histogram(
    'echodrop_site_rendition_wait_seconds',
    'Time that requests waited for a missing rendition.',
    ['recipe', 'outcome'],
    waitBuckets,
  );
  const failures = metrics.counter('echodrop_site_request_failures_total', 'Failed requests by kind.', ['kind']);
  const missing = metrics.counter(
    'echodrop_site_media_missing_total',
    'Requests for a record whose media is missing from the object store; alert on any.',
  );
  const unreadable = metrics.counter(
    'echodrop_site_records_unreadable_total',
    'Requests for an unreadable record; alert on any.',
  );
  return {
    publicSiteUnencrypted(publicSite) {
      log.warn({ publicSite }, 'PUBLIC_SITE_URL is not HTTPS');
    },
    answered(answer) {
      log.info(answer, 'Request completed');
    },
    renditionAwaited({ seconds, error, ...wait }) {
      waits.observe({ recipe: wait.recipe, outcome: wait.outcome }, seconds);
      log.info({ ...wait, seconds, ...(error === undefined ? {} : { err: error }) }, 'Waited for a missing rendition');
    },
    mediaMissing(mediaId, mediaKey) {
      missing.inc();
      log.error({ mediaId, mediaKey }, 'Media missing from the object store');
    },
    recordUnreadable(mediaId) {
      unreadable.inc();
      log.error({ mediaId }, 'Record unreadable');
    },
    requestFailed(requestId, kind, error) {
      failures.inc({ kind });
      log[kind === 'store' ? 'warn' : 'error']({ requestId, kind, err: error }, 'Request failed');
    },
  };
}
