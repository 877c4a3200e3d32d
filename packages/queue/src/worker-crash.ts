import { QueueUnavailable } from './queue-client.ts';

/** Whether a job failed because the workers that took it died, one after the other: BullMQ 6 says so in these words. */
export function isWorkerDeath(failure: string): boolean {
  return /^job (stalled|started) more than allowable limit$/.test(failure);
}

/** The same of what an asker was thrown. */
export function isDeadlyJobError(error: unknown): boolean {
  return error instanceof QueueUnavailable && error.cause instanceof Error && isWorkerDeath(error.cause.message);
}
