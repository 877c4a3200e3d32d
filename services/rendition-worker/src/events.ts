import type { RenditionQuestion } from '@echodrop/contracts/rendition';
import type { JobEnd } from '@echodrop/contracts/serve-queue';
import type { Rendered } from '@echodrop/media/render-pictures';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics';

export interface RenditionEvents {
  /** Media was rendered, or cannot be. */
  rendered(question: RenditionQuestion, rendered: Rendered): void;
  /** A job has ended, one way or another. */
  jobEnded(end: JobEnd): void;
}

const secondsBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800];

export function renditionEvents(log: Log, metrics: Metrics): RenditionEvents {
  const renditions = metrics.counter('echodrop_renditions_total', 'Sets of renditions that were made, or cannot be', [
    'set',
    'type',
    'outcome',
  ]);
  const jobs = metrics.histogram(
    'echodrop_rendition_job_seconds',
    "Jobs, from their adding to the queue to the worker's answer",
    ['queue', 'outcome'],
    secondsBuckets,
  );
  return {
    rendered({ mediaKey, type, set }, rendered) {
      renditions.inc({ set, type, outcome: rendered.outcome });
      log.info({ mediaKey, type, set, ...rendered }, 'rendered');
    },
    jobEnded({ queue, jobId, outcome, seconds, error }) {
      jobs.observe({ queue, outcome }, seconds);
      if (error) log.error({ queue, jobId, outcome, seconds, err: error }, 'job failed');
      else log.debug({ queue, jobId, outcome, seconds }, 'job answered');
    },
  };
}
