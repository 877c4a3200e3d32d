import type { Health } from '@echodrop/service/health';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { type SandboxMode, sandboxFault, setSandboxMode } from './sandbox.ts';

interface Reporting {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: Pick<Health, 'detail'>;
}

/**
 * Sets how the media tools of this process are confined, and reports it in the log, in a gauge and at /readyz.
 * @throws Error if this machine cannot confine them so; its message names the missing feature
 */
export async function confineTools(mode: SandboxMode, { log, metrics, health }: Reporting): Promise<void> {
  setSandboxMode(mode);
  const fault = await sandboxFault();
  if (fault) {
    const advice = mode === 'full' ? '. MEDIA_SANDBOX=limits-only runs them with limits alone' : '';
    throw new Error(`media tools cannot be confined on this machine: ${fault}${advice}`);
  }
  const isFull = mode === 'full';
  health.detail('mediaSandbox', mode);
  const help = '1 if media tools run under Landlock and seccomp, 0 if only under resource limits.';
  metrics.gauge('echodrop_media_sandbox_full', help).set(isFull ? 1 : 0);
  if (isFull) log.info({ mode }, 'Media tools run under Landlock and seccomp');
  else
    log.warn(
      { mode },
      'Media tools run under resource limits only; a compromised decoder can reach what this worker can',
    );
}
