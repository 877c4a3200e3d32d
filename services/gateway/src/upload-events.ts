import { type Reason, refusals } from '@echodrop/contracts/refusal-statuses-and-messages';
import type { StoredRecord } from '@echodrop/record';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { setSpanAttributes } from '@echodrop/service/tracing/trace';
import { Refusal } from './response/refusal-error.ts';
import type { UploadContext, UploadLog } from './upload-context.ts';

/** How an upload, or a request of a resumable one, ended. `ok`: the request succeeded and published nothing. */
type UploadEnd = { readonly record: PublishedRecord; readonly isRepeat: boolean } | Refusal | 'client_gone' | 'ok';
type PublishedRecord = Pick<StoredRecord, 'id' | 'mediaKey' | 'size'>;
type Outcome = 'published' | 'repeated' | 'client_gone' | 'ok' | Reason;

const outcomes = ['published', 'repeated', 'client_gone', ...Object.keys(refusals)];

// The buckets include the client's time to send.
const uploadSecondsBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];
const messages: Partial<Record<Outcome, string>> = {
  published: 'Upload published',
  repeated: 'Repeated upload: responded with the record of the first',
  client_gone: 'Upload aborted by client',
  ok: 'Resumable upload: request completed',
};

const responseSecondsBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];

/** Log lines and metrics of uploads, and of the requests of resumable ones. */
export function createUploadEvents(log: Log, metrics: Metrics) {
  const uploads = metrics.counter('echodrop_uploads_total', 'Finished uploads by API version, format and outcome.', [
    'version',
    'format',
    'outcome',
  ]);
  // Every series exists from the start, so that the first failure is an increase.
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
  // Behind the user's own probes, an upload is not slow because of the service.
  const observeSeconds = (version: number | 'tus', outcome: Outcome, seconds: number, responseSeconds: number) => {
    uploadSeconds.observe({ version, outcome }, seconds);
    if (outcome === 'published') publishedSeconds.observe({ version }, Math.max(0, responseSeconds));
  };
  return {
    uploadStarted(): void {
      running.inc();
    },
    /** An upload has ended, or a request of a resumable one. `hasEnded`: its refusal ended the upload. */
    uploadEnded(context: LoggedUpload, end: UploadEnd, resumable?: { method: string; hasEnded: boolean }): void {
      const { requestId, version, format, startedAt, receivedAt, log: fields } = context;
      const outcome = setLogFields(fields, end);
      const now = performance.now();
      const seconds = Math.round(now - startedAt) / 1000;
      const secondsAfterLastByte = receivedAt === undefined ? undefined : Math.round(now - receivedAt) / 1000;
      running.dec();
      setSpanAttributes({
        'echodrop.outcome': outcome,
        'echodrop.media.id': fields.mediaId,
        'echodrop.media.key': fields.mediaKey,
      });
      if (resumable) resumableRequests.inc({ method: resumable.method, outcome });
      else observeSeconds(version, outcome, seconds, (secondsAfterLastByte ?? 0) - (fields.ownWaitSeconds ?? 0));
      if (!resumable || resumable.hasEnded || countsAsUpload(resumable.method, outcome))
        uploads.inc({ version, format, outcome });
      if (fields.bytes !== undefined) publishedBytes.inc(fields.bytes);
      const request = { requestId, version, format, method: resumable?.method };
      const line = { ...request, outcome, ...fields, secondsAfterLastByte, seconds };
      if (end instanceof Refusal && outcome === 'unavailable') log.error({ ...line, err: end.cause }, 'Upload failed');
      else log.info(line, messages[outcome] ?? 'Upload refused');
    },
  };
}

/** Whether a request of a resumable upload published it, was refused at its creation, or failed to take bytes. */
function countsAsUpload(method: string, outcome: Outcome): boolean {
  if (method === 'POST') return outcome !== 'ok' && outcome !== 'client_gone';
  return outcome === 'published' || (method === 'PATCH' && (outcome === 'unavailable' || outcome === 'overloaded'));
}

/** Sets the fields of the log line that the end decides. @returns the outcome */
function setLogFields(log: UploadLog, end: UploadEnd): Outcome {
  if (typeof end === 'string') return end;
  if (end instanceof Refusal) {
    log.refusalMessage = end.sentence;
    if (end.reason === 'media_unsupported') log.cause = end.variant;
    return end.reason;
  }
  log.mediaId = end.record.id;
  log.mediaKey = end.record.mediaKey;
  if (end.isRepeat) return 'repeated';
  log.bytes = end.record.size;
  return 'published';
}

type LoggedUpload = Pick<UploadContext, 'requestId' | 'version' | 'format' | 'startedAt' | 'receivedAt' | 'log'>;
