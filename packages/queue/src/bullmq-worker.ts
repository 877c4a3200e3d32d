import { type Job, type JobJson, Worker } from 'bullmq';

/**
 * BullMQ's worker, with fewer scripts. After each job, BullMQ 6.7 fetches until it finds no job, and once more for the marker of the first
 * fetch. This one waits for the marker, which is there at once if there may be another job.
 */
export class BullmqWorker<D, R> extends Worker<D, R> {
  protected override async moveToActive(token: string, name?: string): Promise<Job<D, R>> {
    const job = await super.moveToActive(token, name);
    // Private in the types: whether to wait for the next job.
    if (job) Object.assign(this, { drained: true });
    return job;
  }

  // BullMQ 6.7 fetches a job with malformed JSON again and again. With empty data the processor fails it.
  protected override createJob(json: JobJson, jobId: string): Job<D, R> {
    try {
      const job = super.createJob(json, jobId);
      if (typeof job.data === 'object' && job.data !== null) return job;
    } catch {
      // Malformed.
    }
    return super.createJob({ ...json, data: '{}' }, jobId);
  }
}
