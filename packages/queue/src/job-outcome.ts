import type { Job } from 'bullmq';
import { Deferred } from './slower-lane.ts';
import { isWorkerDeath } from './worker-crash.ts';

/** How a job ended, for the worker's log and metrics. */
export interface JobEnd {
  readonly queue: string;
  readonly jobId: string;
  readonly outcome: 'answered' | 'failed' | 'late' | 'deferred' | 'forged';
  /** From its adding to its end. */
  readonly seconds: number;
  /** From its taking by a worker to its end. */
  readonly workSeconds: number;
  readonly error?: Error;
  /** The workers that took it died, as far as is known: none of them has lost its lock and lived on. */
  readonly isDeadly?: boolean;
}

/** The error messages of jobs that fail before a worker answers them. */
export const late = 'past its deadline';
export const forged = 'its seal is wrong';

/** The progress of a job whose worker has lost its lock and lives on. */
export const outlived = 'outlived';

type EndedJob = Pick<Job, 'id' | 'timestamp' | 'processedOn' | 'progress'>;

/** The end of a job that was answered or, with `error`, has failed. BullMQ does not give a job that Redis no longer has. */
export function jobEnd(queue: string, job: EndedJob | undefined, error?: Error): JobEnd {
  const times = { seconds: secondsSince(job?.timestamp), workSeconds: secondsSince(job?.processedOn) };
  const end = { queue, jobId: String(job?.id), ...times };
  if (!error) return { ...end, outcome: 'answered' };
  const isDeadly = isWorkerDeath(error.message) && job?.progress !== outlived;
  return { ...end, outcome: outcomeOf(error), error, isDeadly };
}

function outcomeOf(error: Error): JobEnd['outcome'] {
  if (error instanceof Deferred) return 'deferred';
  if (error.message === late) return 'late';
  return error.message === forged ? 'forged' : 'failed';
}

function secondsSince(ms: number | undefined): number {
  return ms === undefined ? 0 : Math.max(0, Date.now() - ms) / 1000;
}
