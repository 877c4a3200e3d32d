import type { Probe } from '@echodrop/media/probe-outcome';
import type { UnsupportedReason } from '@echodrop/media/unsupported';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics';
import { tellSpan } from '@echodrop/service/trace';
import type { Format } from './answer.ts';
import { type Reason, refusals } from './refusals.ts';
import { type SlotLimit, slotLimits } from './slots.ts';

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
  readonly #comparesChecksums;
  readonly #found;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    const labels = ['version', 'format', 'outcome'] as const;
    this.#uploads = metrics.counter('echodrop_uploads_total', 'Uploads that ended, by how.', labels);
    this.#running = metrics.gauge('echodrop_uploads_running', 'Uploads that run now.');
    // So that the first failure is seen as an increase.
    for (const version of [1, 2]) {
      for (const format of ['xml', 'json']) {
        for (const outcome of outcomes) this.#uploads.inc({ version, format, outcome }, 0);
      }
    }
    this.#seconds = metrics.histogram(
      'echodrop_upload_seconds',
      'From the first header to the answer.',
      ['version', 'outcome'],
      uploadSeconds,
    );
    this.#answerSeconds = metrics.histogram(
      'echodrop_upload_answer_seconds',
      'Of published uploads, from the last byte of the form to the answer.',
      ['version'],
      answerSeconds,
    );
    this.#bytes = metrics.counter('echodrop_published_bytes_total', 'Bytes of published media.');
    this.#orphans = metrics.counter('echodrop_orphaned_media_total', 'Media left to the sweeper.');
    this.#unadmitted = metrics.counter(
      'echodrop_admission_refused_total',
      'Uploads and own requests refused before verification, by exhausted limit.',
      ['limit'],
    );
    for (const limit of slotLimits) this.#unadmitted.inc({ limit }, 0);
    this.#uncounted = metrics.counter('echodrop_uncounted_uploads_total', 'Limits that could not be asked for.');
    this.#unasked = metrics.counter('echodrop_unasked_renditions_total', 'Uploads whose renditions wait for a view.');
    this.#unlisted = metrics.counter(
      'echodrop_unlisted_uploads_total',
      'Uploads that no list shows until a repeat or the sweep adds them.',
    );
    this.#relisted = metrics.counter(
      'echodrop_relisted_uploads_total',
      'Published uploads without list entries that a repeat added.',
    );
    this.#comparesChecksums = metrics.gauge(
      'echodrop_store_compares_checksums',
      'Whether the store refuses bytes that changed on their way: 1 or 0.',
    );
    // No series until it is known.
    this.#comparesChecksums.remove();
    this.#found = metrics.counter('echodrop_probe_found_total', 'What media was found to be', ['found']);
  }

  uploadBegan(): void {
    this.#running.inc();
  }

  uploadEnded({ seconds, error, ...end }: UploadEnd): void {
    const { version, format, outcome, bytes } = end;
    this.#running.dec();
    tellSpan({ 'echodrop.outcome': outcome, 'echodrop.media.id': end.mediaId, 'echodrop.media.key': end.mediaKey });
    this.#uploads.inc({ version, format, outcome });
    this.#seconds.observe({ version, outcome }, seconds);
    if (outcome === 'published' && end.answerSeconds !== undefined)
      this.#answerSeconds.observe({ version }, end.answerSeconds);
    if (bytes !== undefined) this.#bytes.inc(bytes);
    if (outcome === 'unavailable') this.#log.error({ ...end, seconds, err: error }, 'upload failed');
    else this.#log.info({ ...end, seconds }, 'upload ended');
  }

  /** Media was probed here, without a probe-worker. */
  mediaProbed(probe: Probe): void {
    this.#found.inc({ found: probe.outcome === 'media' ? probe.type : probe.why });
  }

  /** A request was refused before anything of it was read. */
  admissionRefused(limit: SlotLimit): void {
    this.#unadmitted.inc({ limit });
  }

  /** An upload was let in without being counted: the limits' Redis gave no answer. */
  uploadUncounted(error: unknown): void {
    this.#uncounted.inc();
    this.#log.warn({ err: error }, 'upload was not counted');
  }

  /** Renditions could not be asked for; they are made when somebody looks. */
  renditionsUnasked(mediaKey: string, error: unknown): void {
    this.#unasked.inc();
    this.#log.warn({ mediaKey, err: error }, 'renditions were not asked for');
  }

  /** An upload is published, and listed neither for its user nor among the newest. */
  uploadUnlisted(mediaId: string, error: unknown): void {
    this.#unlisted.inc();
    this.#log.warn({ mediaId, err: error }, 'upload is not listed; a repeat or the sweep adds it');
  }

  /** An upload was published earlier, and not listed until now. */
  uploadRelisted(mediaId: string): void {
    this.#relisted.inc();
    this.#log.warn({ mediaId }, 'list entries of an earlier upload were missing, added');
  }

  /** Whether the store compares what it is sent with its checksum is known. */
  storeExamined(comparesChecksums: boolean): void {
    this.#comparesChecksums.set(comparesChecksums ? 1 : 0);
    if (!comparesChecksums)
      this.#log.warn('store does not compare checksums: bytes that change on their way to it are not noticed');
  }

  /** Who may not upload could not be looked up. */
  blocksUnknown(error: unknown): void {
    this.#log.warn({ err: error }, 'the blocks were not looked up');
  }

  mediaOrphaned(mediaKey: string): void {
    this.#orphans.inc();
    this.#log.warn({ mediaKey }, 'media could not be discarded and is left to the sweeper');
  }
}

const outcomes = ['published', 'repeated', 'client_gone', ...Object.keys(refusals)];
// The sender's time is in it.
const uploadSeconds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];
const answerSeconds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];
