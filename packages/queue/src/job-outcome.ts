import type { Metrics } from '@echodrop/service/metrics/metrics';
import type { Job } from 'bullmq';
import { Deferred } from './slow-lane.ts';

/** The end of a job, for the worker's log and metrics. */
export interface JobEnd {
  readonly queue: string;
  readonly jobId: string;
  readonly outcome: 'completed' | 'failed' | 'late' | 'deferred' | 'forged';
  /** Since it was added. */
  readonly seconds: number;
  /** Since a worker took it. */
  readonly workSeconds: number;
  readonly error?: Error;
  /** Whether two workers that took it died or lost its lock. */
  readonly isDeadly?: boolean;
}

/** Error messages of jobs that fail before a worker handles them. */
export const lateMessage = 'past its deadline';
export const forgedMessage = 'its seal is wrong';

type EndedJob = Pick<Job, 'id' | 'timestamp' | 'processedOn'>;

/** The end of a job that completed or, with `error`, failed. BullMQ has no `job` if Redis no longer has it. */
export function jobEnd(queue: string, job: EndedJob | undefined, error?: Error): JobEnd {
  const times = { seconds: secondsSince(job?.timestamp), workSeconds: secondsSince(job?.processedOn) };
  const end = { queue, jobId: String(job?.id), ...times };
  if (!error) return { ...end, outcome: 'completed' };
  return { ...end, outcome: outcomeOf(error), error, isDeadly: isWorkerDeath(error.message) };
}

/**
 * Whether a job failed because two workers that took it died, or lost its lock, one after the other. BullMQ does not distinguish them, and the words
 * are its own.
 */
export function isWorkerDeath(failure: string): boolean {
  return /^job (stalled|started) more than allowable limit$/.test(failure);
}

function outcomeOf(error: Error): JobEnd['outcome'] {
  if (error instanceof Deferred) return 'deferred';
  if (error.message === lateMessage) return 'late';
  return error.message === forgedMessage ? 'forged' : 'failed';
}

function secondsSince(ms: number | undefined): number {
  return ms === undefined ? 0 : Math.max(0, Date.now() - ms) / 1000;
}

/** Returns a function that reports how long a job took, in two histograms of these names. */
export function createJobDurations(
  metrics: Metrics,
  names: { readonly job: string; readonly work: string },
  secondsBuckets: number[],
) {
  const labels = ['queue', 'outcome'] as const;
  const job = metrics.histogram(names.job, 'Job duration from enqueue to completion.', labels, secondsBuckets);
  const work = metrics.histogram(
    names.work,
    'Time that a worker spent on a job, excluding its time in the queue.',
    labels,
    secondsBuckets,
  );
  return (end: Pick<JobEnd, 'queue' | 'seconds' | 'workSeconds'>, outcome: JobEnd['outcome'] | 'removed') => {
    job.observe({ queue: end.queue, outcome }, end.seconds);
    work.observe({ queue: end.queue, outcome }, end.workSeconds);
  };
}
