import { type Job, type JobJson, Worker } from 'bullmq';

/**
 * BullMQ's worker, with fewer scripts. After each job that it takes, BullMQ 6.7 runs the script that takes a job until one finds none,
 * and then once more, since the first left a marker that wakes its wait. This one waits for the marker instead: it is there at once where
 * another job may be.
 */
export class FrugalWorker<D, R> extends Worker<D, R> {
  protected override async moveToActive(token: string, name?: string): Promise<Job<D, R>> {
    const job = await super.moveToActive(token, name);
    // Private in the types: whether the next job is waited for.
    if (job) Object.assign(this, { drained: true });
    return job;
  }

  // BullMQ 6.7 takes a job whose data is no JSON again and again. Without data the processor gets it, and fails it.
  protected override createJob(json: JobJson, jobId: string): Job<D, R> {
    try {
      const job = super.createJob(json, jobId);
      if (typeof job.data === 'object' && job.data !== null) return job;
    } catch {
      // As below.
    }
    return super.createJob({ ...json, data: '{}' }, jobId);
  }
}
