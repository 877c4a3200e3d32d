import { type Reason, refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { setSpanAttributes } from '@echodrop/service/tracing/trace';
import type { UploadContext } from './upload-context.ts';

export type UploadOutcome = 'published' | 'repeated' | 'client_gone' | Reason;

const outcomes = ['published', 'repeated', 'client_gone', ...Object.keys(refusals)];

// Includes the client's time to send.
const uploadSecondsBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];
const endMessages: Partial<Record<UploadOutcome, string>> = {
  published: 'Upload published',
  repeated: 'Repeated upload: responded with the record of the first',
  client_gone: 'Upload aborted by client',
};

const resumableMessages: Partial<Record<UploadOutcome | 'ok', string>> = {
  ok: 'Resumable upload: request completed',
  published: 'Upload published',
  repeated: 'Repeated upload: responded with the record of the first',
  client_gone: 'Resumable upload: connection lost',
};

const responseSecondsBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];

/** Log lines and metrics of uploads, and of the requests of resumable ones. */
export function createUploadEvents(log: Log, metrics: Metrics) {
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
    'Requests of resumable uploads by method and outcome. Outcome `ok`: the request succeeded and published nothing.',
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
    'Published uploads: time from the last request byte to the response, without the wait for other probes of the same user.',
    ['version'],
    responseSecondsBuckets,
  );
  const publishedBytes = metrics.counter('echodrop_published_bytes_total', 'Bytes of published media.');
  return {
    uploadStarted(): void {
      running.inc();
    },
    /** A request of a resumable upload has ended. It counts as an upload if it published one, ended one, was refused at its creation, or failed to take bytes. */
    resumableRequestEnded(
      { requestId, startedAt, log: fields }: LoggedUpload,
      { method, hasEnded }: { readonly method: string; readonly hasEnded: boolean },
      outcome: UploadOutcome | 'ok',
      error?: unknown,
    ): void {
      running.dec();
      const seconds = Math.round(performance.now() - startedAt) / 1000;
      const attributes = { 'echodrop.media.id': fields.mediaId, 'echodrop.media.key': fields.mediaKey };
      setSpanAttributes({ 'echodrop.outcome': outcome, ...attributes });
      resumableRequests.inc({ method, outcome });
      const isRefused = outcome !== 'ok' && outcome !== 'client_gone';
      const isFailed = method === 'PATCH' && ['unavailable', 'overloaded'].includes(outcome);
      if (outcome === 'published' || hasEnded || isFailed || (method === 'POST' && isRefused))
        uploads.inc({ version: 'tus', format: 'json', outcome });
      if (fields.bytes !== undefined) publishedBytes.inc(fields.bytes);
      const line = { requestId, version: 'tus', method, outcome, ...fields, seconds };
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
      // Behind the user's own probes, an upload is not slow because of the service.
      if (outcome === 'published' && responseSeconds !== undefined)
        publishedSeconds.observe({ version }, Math.max(0, responseSeconds - (fields.ownWaitSeconds ?? 0)));
      if (fields.bytes !== undefined) publishedBytes.inc(fields.bytes);
      const line = { requestId, version, format, outcome, ...fields, secondsAfterLastByte: responseSeconds, seconds };
      if (outcome === 'unavailable') log.error({ ...line, err: error }, 'Upload failed');
      else log.info(line, endMessages[outcome] ?? 'Upload refused');
    },
  };
}

type LoggedUpload = Pick<UploadContext, 'requestId' | 'version' | 'format' | 'startedAt' | 'receivedAt' | 'log'>;
