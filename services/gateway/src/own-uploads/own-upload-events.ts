import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import type { Refusal } from '../answer/refusals.ts';

interface Removal {
  readonly requestId: string;
  readonly mediaId: string;
  readonly mediaKey: string;
  readonly provider: string;
  readonly subject: string;
}

/** What users do with their own uploads, as log lines and metrics. */
export class OwnUploadEvents {
  readonly #log: Log;
  readonly #audit: Log;
  readonly #requests;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    // The audit's lines are written whatever LOG_LEVEL says.
    this.#audit = log.child({ audit: true }, { level: 'info' });
    this.#requests = metrics.counter(
      'echodrop_own_requests_total',
      'Requests for own uploads (lists and removals) by outcome.',
      ['outcome'],
    );
  }

  /** A user got the list of their uploads. */
  listed(requestId: string, records: number): void {
    this.#requests.inc({ outcome: 'listed' });
    this.#log.info({ requestId, records }, 'Listed own uploads');
  }

  /** A list lacks an upload whose record cannot be read. */
  recordUnreadable(requestId: string, mediaId: string): void {
    this.#log.error({ requestId, mediaId }, 'Record unreadable');
  }

  /** A user removes an upload. The audit's line comes first, so that it is there even if the removal breaks off. */
  removing(removal: Removal): void {
    this.#audit.info({ act: 'remove', ...removal }, 'Owner removed an upload');
  }

  /** A user has removed an upload. */
  removed(): void {
    this.#requests.inc({ outcome: 'removed' });
  }

  /** A list or a removal was refused. */
  refused(requestId: string, { reason, cause }: Refusal): void {
    this.#requests.inc({ outcome: reason });
    if (reason === 'unavailable') this.#log.error({ requestId, outcome: reason, err: cause }, 'List or removal failed');
    else this.#log.info({ requestId, outcome: reason }, 'List or removal refused');
  }
}
