import type { Probe } from '@echodrop/media/probe-outcome';
import type { UnsupportedReason } from '@echodrop/media/unsupported';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { setSpanAttributes } from '@echodrop/service/tracing/trace';
import { type SlotLimit, slotLimits } from './admit/slots.ts';
import type { Format } from './answer/answer.ts';
import { type Reason, refusals } from './answer/refusals.ts';

export interface UploadEnd {
  readonly requestId: string;
  readonly version: 1 | 2;
  readonly format: Format;
  readonly outcome: 'published' | 'repeated' | 'client_gone' | Reason;
  readonly seconds: number;
  /** From the last byte of the form to the answer, where the form came to its end. */
  readonly answerSeconds?: number | undefined;
  readonly mediaId?: string;
  /** Where the media lies or lay: the probe-worker's and the rendition-worker's lines name it too. */
  readonly mediaKey?: string | undefined;
  /** Why media is `media_unsupported`. */
  readonly why?: UnsupportedReason | undefined;
  readonly bytes?: number;
  /** What broke, where it was we who could not. */
  readonly error?: unknown;
}

/** What happens to uploads in the gateway, as log lines and metrics. */
export class GatewayEvents {
  readonly #log: Log;
  readonly #uploads;
  readonly #running;
  readonly #seconds;
  readonly #answerSeconds;
  readonly #bytes;
  readonly #orphans;
  readonly #unadmitted;
  readonly #uncounted;
  readonly #unasked;
  readonly #unlisted;
  readonly #relisted;
  readonly #supportsChecksums;
  readonly #found;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    const labels = ['version', 'format', 'outcome'] as const;
    this.#uploads = metrics.counter(
      'echodrop_uploads_total',
      'Finished uploads by version, format and outcome.',
      labels,
    );
    this.#running = metrics.gauge('echodrop_uploads_in_flight', 'Uploads in flight.');
    // So that the first failure is seen as an increase.
    for (const version of [1, 2]) {
      for (const format of ['xml', 'json']) {
        for (const outcome of outcomes) this.#uploads.inc({ version, format, outcome }, 0);
      }
    }
    this.#seconds = metrics.histogram(
      'echodrop_upload_seconds',
      'Upload duration from the request line to the response.',
      ['version', 'outcome'],
      uploadSeconds,
    );
    this.#answerSeconds = metrics.histogram(
      'echodrop_upload_answer_seconds',
      'Published uploads: time from the last request byte to the response.',
      ['version'],
      answerSeconds,
    );
    this.#bytes = metrics.counter('echodrop_published_bytes_total', 'Bytes of published media.');
    this.#orphans = metrics.counter(
      'echodrop_orphaned_media_total',
      'Media that could not be discarded; the sweep removes it.',
    );
    this.#unadmitted = metrics.counter(
      'echodrop_admission_refused_total',
      'Uploads and own requests refused before verification, by exhausted limit.',
      ['limit'],
    );
    for (const limit of slotLimits) this.#unadmitted.inc({ limit }, 0);
    this.#uncounted = metrics.counter(
      'echodrop_rate_limit_bypassed_total',
      'Uploads admitted without rate limiting because Redis was unavailable.',
    );
    this.#unasked = metrics.counter(
      'echodrop_rendition_enqueue_failures_total',
      'Uploads whose renditions could not be enqueued; the first view enqueues them.',
    );
    this.#unlisted = metrics.counter(
      'echodrop_unlisted_uploads_total',
      'Published uploads whose list entries could not be written.',
    );
    this.#relisted = metrics.counter(
      'echodrop_relisted_uploads_total',
      'Published uploads whose missing list entries a repeated upload added.',
    );
    this.#supportsChecksums = metrics.gauge(
      'echodrop_store_verifies_checksums',
      '1 if the object store verifies checksums of writes, 0 if not.',
    );
    // No series until it is known.
    this.#supportsChecksums.remove();
    this.#found = metrics.counter(
      'echodrop_probe_results_total',
      'Probed media by type, or by the reason it is unsupported.',
      ['result'],
    );
  }

  uploadBegan(): void {
    this.#running.inc();
  }

  uploadEnded({ seconds, error, ...end }: UploadEnd): void {
    const { version, format, outcome, bytes } = end;
    this.#running.dec();
    setSpanAttributes({
      'echodrop.outcome': outcome,
      'echodrop.media.id': end.mediaId,
      'echodrop.media.key': end.mediaKey,
    });
    this.#uploads.inc({ version, format, outcome });
    this.#seconds.observe({ version, outcome }, seconds);
    if (outcome === 'published' && end.answerSeconds !== undefined)
      this.#answerSeconds.observe({ version }, end.answerSeconds);
    if (bytes !== undefined) this.#bytes.inc(bytes);
    if (outcome === 'unavailable') this.#log.error({ ...end, seconds, err: error }, 'Upload failed');
    else this.#log.info({ ...end, seconds }, 'Upload finished');
  }

  /** Media was probed here, without a probe-worker. */
  mediaProbed(probe: Probe): void {
    this.#found.inc({ result: probe.outcome === 'media' ? probe.type : probe.why });
  }

  /** A request was refused before anything of it was read. */
  admissionRefused(limit: SlotLimit): void {
    this.#unadmitted.inc({ limit });
  }

  /** An upload was let in without being counted: the limits' Redis gave no answer. */
  uploadUncounted(error: unknown): void {
    this.#uncounted.inc();
    this.#log.warn({ err: error }, 'Upload admitted without rate limiting; Redis unavailable');
  }

  /** Renditions could not be asked for; they are made when somebody looks. */
  renditionsUnasked(mediaKey: string, error: unknown): void {
    this.#unasked.inc();
    this.#log.warn({ mediaKey, err: error }, 'Failed to enqueue renditions');
  }

  /** An upload is published, and listed neither for its user nor among the newest. */
  uploadUnlisted(mediaId: string, error: unknown): void {
    this.#unlisted.inc();
    this.#log.warn({ mediaId, err: error }, 'Failed to list upload; a repeat or the next sweep adds it');
  }

  /** An upload was published earlier, and not listed until now. */
  uploadRelisted(mediaId: string): void {
    this.#relisted.inc();
    this.#log.warn({ mediaId }, 'Added missing list entries of an earlier upload');
  }

  /** Whether the store compares what it is sent with its checksum is known. */
  storeExamined(supportsChecksums: boolean): void {
    this.#supportsChecksums.set(supportsChecksums ? 1 : 0);
    if (!supportsChecksums)
      this.#log.warn('Object store does not verify checksums; corruption in transit goes undetected');
  }

  /** Who may not upload could not be looked up. */
  blocksUnknown(error: unknown): void {
    this.#log.warn({ err: error }, 'Failed to refresh block list');
  }

  mediaOrphaned(mediaKey: string): void {
    this.#orphans.inc();
    this.#log.warn({ mediaKey }, 'Failed to discard media; the next sweep removes it');
  }
}

const outcomes = ['published', 'repeated', 'client_gone', ...Object.keys(refusals)];
// The sender's time is in it.
const uploadSeconds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];
const answerSeconds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];
