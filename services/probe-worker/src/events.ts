import type { ProbeRequest } from '@echodrop/contracts/probe';
import { type Probe, resultFields } from '@echodrop/media/outcomes';
import { createJobDurations, type JobEnd } from '@echodrop/queue/job-outcome';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { setSpanAttributes } from '@echodrop/service/tracing/trace';

export type ProbeEvents = ReturnType<typeof createProbeEvents>;

const secondsBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25];
const KiB = 1024;
const bytesBuckets = [0, 16 * KiB, 64 * KiB, 256 * KiB, 1024 * KiB, 4096 * KiB, 16_384 * KiB];

export function createProbeEvents(log: Log, metrics: Metrics) {
  const bytesRead = metrics.histogram(
    'echodrop_probe_read_bytes',
    'Bytes read from the object store per probe, excluding the first 16 KiB, which the gateway sends with the job.',
    ['outcome'],
    bytesBuckets,
  );
  const results = metrics.counter(
    'echodrop_probe_results_total',
    'Media that this service probed, by type or, if unsupported, by reason.',
    ['result'],
  );
  const names = { job: 'echodrop_probe_job_seconds', work: 'echodrop_probe_work_seconds' };
  const observeDurations = createJobDurations(metrics, names, secondsBuckets);
  return {
    /** `bytesRead` excludes the head in the job. */
    probed({ mediaKey, size }: ProbeRequest, probe: Probe, costs: { reads: number; bytesRead: number }) {
      const fields = resultFields(probe);
      bytesRead.observe({ outcome: fields.outcome }, costs.bytesRead);
      const result = probe.outcome === 'media' ? probe.type : probe.why;
      results.inc({ result });
      setSpanAttributes({ 'echodrop.media.key': mediaKey, 'echodrop.outcome': result });
      log.info({ mediaKey, size, ...fields, storeReads: costs.reads, storeBytesRead: costs.bytesRead }, 'Media probed');
    },
    jobEnded(end: JobEnd, request?: Pick<ProbeRequest, 'mediaKey'>) {
      const { queue, jobId, outcome, seconds, error } = end;
      const about = { queue, jobId, mediaKey: request?.mediaKey, outcome, seconds };
      observeDurations(end, outcome);
      if (error) log.error({ ...about, err: error }, 'Job failed');
      else log.debug(about, 'Job completed');
    },
  };
}
