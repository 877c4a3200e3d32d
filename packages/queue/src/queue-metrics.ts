import type { Metrics } from '@echodrop/service/metrics/metrics';
import type { Backlog } from './backlog.ts';

interface AskingEnd {
  /** By the queues' names; without those that cannot be looked at. */
  backlogs(): Promise<ReadonlyMap<string, Backlog>>;
}

/** Tells how much waits in the queues of `clients`. Every process that does so tells the same: they are joined with `max by (queue)`. */
export function registerBacklogMetrics(metrics: Metrics, clients: readonly AskingEnd[]): void {
  const helps = {
    echodrop_queue_waiting_jobs: 'Jobs waiting for a worker.',
    echodrop_queue_oldest_job_age_seconds: 'Age of the oldest waiting job; 0 if none waits.',
    echodrop_queue_unsupported_jobs: 'Delayed jobs whose payload version no running worker supports.',
  };
  metrics.gaugesOnScrape(helps, 'queue', async () => {
    const backlogs = await Promise.all(clients.map((client) => client.backlogs()));
    return backlogs
      .flatMap((each) => [...each])
      .map(([of, { waiting, oldestMs, left }]) => {
        const values = {
          echodrop_queue_waiting_jobs: waiting,
          echodrop_queue_oldest_job_age_seconds: oldestMs / 1000,
          echodrop_queue_unsupported_jobs: left,
        };
        return { of, values };
      });
  });
}
