import type { StoredRecord, UnreadableRecord } from '@echodrop/record';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import type { Refusal } from '../response/refusal-error.ts';

export type OwnUploadEvents = ReturnType<typeof createOwnUploadEvents>;

/** Log lines and metrics of requests about own uploads. */
export function createOwnUploadEvents(log: Log, metrics: Metrics) {
  // The audit is written at any LOG_LEVEL.
  const audit = log.child({ audit: true }, { level: 'info' });
  const requests = metrics.counter(
    'echodrop_own_upload_requests_total',
    'Requests by users to list or delete their uploads, by outcome.',
    ['outcome'],
  );
  const unreadable = metrics.counter(
    'echodrop_gateway_records_unreadable_total',
    'Unreadable records that requests by users to list or delete their uploads found; should be 0.',
  );
  return {
    listed(requestId: string, records: number): void {
      requests.inc({ outcome: 'listed' });
      log.info({ requestId, records }, "Listed the user's uploads");
    },
    recordUnreadable(requestId: string, mediaId: string, { message: reason }: UnreadableRecord): void {
      unreadable.inc();
      log.error({ requestId, mediaId, reason }, 'Record unreadable');
    },
    /** A removal begins. This precedes the removal, so that the audit has removals that fail halfway. */
    removalStarted(requestId: string, { id: mediaId, mediaKey, provider, subject }: StoredRecord): void {
      audit.info(
        { action: 'remove', requestId, mediaId, mediaKey, provider, subject },
        'Deleting upload for its owner',
      );
    },
    removed(requestId: string, mediaId: string): void {
      requests.inc({ outcome: 'removed' });
      log.info({ requestId, mediaId }, 'Upload deleted');
    },
    /** `mediaId` of a removal; a list has none. */
    refused(requestId: string, { reason, cause }: Refusal, mediaId?: string): void {
      requests.inc({ outcome: reason });
      const about = { requestId, mediaId, outcome: reason };
      const operation = mediaId === undefined ? 'List' : 'Removal';
      if (reason === 'unavailable') log.error({ ...about, err: cause }, `${operation} failed`);
      else log.info(about, `${operation} refused`);
    },
  };
}
