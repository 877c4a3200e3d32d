import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import type { Refusal } from '../response/refusal-error.ts';

export type SessionEvents = ReturnType<typeof createSessionEvents>;

/** Log lines and metrics of sign-ins on the site. */
export function createSessionEvents(log: Log, metrics: Metrics) {
  const requests = metrics.counter(
    'echodrop_session_requests_total',
    'Sign-ins and sign-outs of people on the site, by outcome.',
    ['outcome'],
  );
  return {
    begun(requestId: string, provider: string): void {
      requests.inc({ outcome: 'begun' });
      log.info({ requestId, provider }, 'Session begun');
    },
    /** `isRevoked`: the provider confirmed that the token is revoked. */
    ended(requestId: string, isRevoked: boolean): void {
      requests.inc({ outcome: 'ended' });
      log.info({ requestId, isRevoked }, 'Session ended');
    },
    refused(requestId: string, { reason, cause }: Refusal): void {
      requests.inc({ outcome: reason });
      if (reason === 'unavailable') log.error({ requestId, outcome: reason, err: cause }, 'Sign-in failed');
      else log.info({ requestId, outcome: reason }, 'Sign-in refused');
    },
  };
}
