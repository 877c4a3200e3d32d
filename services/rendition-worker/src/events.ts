import type { RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { type RenditionReason, resultFields } from '@echodrop/media/outcomes';
import type { OutputRefused } from '@echodrop/media/sandbox/tool-output';
import { createJobDurations, type JobEnd } from '@echodrop/queue/job-outcome';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { setSpanAttributes } from '@echodrop/service/tracing/trace';
import { MediaRemoved } from './run-unless-removed.ts';

/** What visitors do not see: any picture of an upload, or its video. */
export type NotShown = 'picture' | 'video';

export type RenditionEvents = ReturnType<typeof createRenditionEvents>;

const secondsBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800];

export function createRenditionEvents(log: Log, metrics: Metrics) {
  const renditions = metrics.counter(
    'echodrop_renditions_total',
    'Rendition sets by outcome. A set is what one job makes: `pictures` (for pages and previews), `whole` (the full-size picture), `film` (the playable video and its pictures).',
    ['set', 'type', 'outcome'],
  );
  const refusals = metrics.counter(
    'echodrop_tool_output_refused_total',
    'Output files of media tools that failed validation; even one may mean a compromised decoder.',
    ['fault'],
  );
  const notShown = metrics.counter(
    'echodrop_media_not_shown_total',
    'Jobs after which an upload has no picture at all, or no video. The outcome is `unsupported` (the media cannot be ' +
      'rendered) or `failed` (the job failed; a later visit enqueues it again).',
    ['missing', 'outcome'],
  );
  // The series exist from the start, so that alerts see the first failure as an increase.
  for (const missing of ['picture', 'video']) {
    for (const outcome of ['unsupported', 'failed']) notShown.inc({ missing, outcome }, 0);
  }
  const names = { job: 'echodrop_rendition_job_seconds', work: 'echodrop_rendition_work_seconds' };
  const observeDurations = createJobDurations(metrics, names, secondsBuckets);
  return {
    rendered({ mediaKey, type, set }: RenditionRequest, rendered: RenditionReply) {
      const fields = resultFields(rendered);
      renditions.inc({ set, type, outcome: fields.outcome });
      setSpanAttributes({ 'echodrop.media.key': mediaKey, 'echodrop.outcome': fields.outcome });
      log.info(
        { mediaKey, type, set, ...fields },
        rendered.outcome === 'made' ? 'Renditions created' : 'Media cannot be rendered',
      );
    },
    notShown({ mediaKey, type, set }: RenditionRequest, missing: NotShown, cause: RenditionReason | 'failed') {
      notShown.inc({ missing, outcome: cause === 'failed' ? cause : 'unsupported' });
      log.warn({ mediaKey, type, set, missing, cause }, 'Published media has nothing to show');
    },
    outputRefused({ mediaKey, type, set }: RenditionRequest, { file, fault }: OutputRefused) {
      refusals.inc({ fault });
      log.warn({ mediaKey, type, set, file, fault }, 'Rejected media tool output; tool may be compromised');
    },
    jobEnded(end: JobEnd, request?: RenditionRequest) {
      const { queue, jobId, seconds, error } = end;
      const outcome = error instanceof MediaRemoved ? 'removed' : end.outcome;
      const { mediaKey, type, set } = request ?? {};
      const about = { queue, jobId, mediaKey, type, set, outcome, seconds };
      observeDurations(end, outcome);
      if (outcome === 'removed') log.info(about, 'Media deleted before rendering');
      else if (outcome === 'deferred') log.info(about, 'Job deferred to the slow lane');
      else if (error) log.error({ ...about, err: error }, 'Job failed');
      else log.debug(about, 'Job completed');
    },
  };
}
