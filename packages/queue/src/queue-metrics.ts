import type { Metrics } from '@echodrop/service/metrics/metrics';
import type { Backlog } from './backlog.ts';

interface BacklogSource {
  /** By the names of the queues. */
  backlogs(): Promise<ReadonlyMap<string, Backlog>>;
}

/** Reports the backlogs of the queues of `clients`. Every process reports the same: join them with `max by (queue)`. */
export function registerBacklogMetrics(metrics: Metrics, clients: readonly BacklogSource[]): void {
  const helps = {
    echodrop_queue_waiting_jobs: 'Jobs waiting for a worker.',
    echodrop_queue_oldest_job_age_seconds: 'Age of the oldest waiting job; 0 if none waits.',
    echodrop_queue_unsupported_jobs: 'Delayed jobs whose payload version no running worker supports.',
  };
  metrics.gaugesOnScrape(helps, 'queue', async () => {
    const backlogs = await Promise.all(clients.map((client) => client.backlogs()));
    return backlogs
      .flatMap((each) => [...each])
      .map(([of, { waiting, oldestMs, unsupported }]) => {
        const values = {
          echodrop_queue_waiting_jobs: waiting,
          echodrop_queue_oldest_job_age_seconds: oldestMs / 1000,
          echodrop_queue_unsupported_jobs: unsupported,
        };
        return { label: of, values };
      });
  });
}
