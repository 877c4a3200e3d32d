import type { ProfileName } from '@echodrop/identity-provider/provider-profiles';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import type { BehaviourName } from './behaviours.ts';
import type { ProofFault } from './check-proof.ts';

interface IdentityRequest {
  readonly profile: ProfileName;
  /** Whatever the response is. */
  readonly proof: 'valid' | ProofFault;
  readonly behaviour: BehaviourName;
}

export type SandboxEvents = ReturnType<typeof createSandboxEvents>;

/** Log lines and metrics of the sandbox provider. */
export function createSandboxEvents(log: Log, metrics: Metrics) {
  const requests = metrics.counter(
    'echodrop_sandbox_requests_total',
    'Identity requests by provider profile, proof and sandbox behaviour.',
    ['profile', 'proof', 'behaviour'],
  );
  const changes = metrics.counter(
    'echodrop_sandbox_behaviour_changes_total',
    "Changes of the sandbox provider's behaviour.",
    ['behaviour'],
  );
  const refusals = metrics.counter(
    'echodrop_sandbox_cross_origin_refused_total',
    "Refused cross-origin requests to change the sandbox provider's behaviour.",
  );
  const failures = metrics.counter('echodrop_sandbox_failures_total', 'Requests that failed in the sandbox provider.');
  return {
    identityRequested(request: IdentityRequest): void {
      requests.inc({ ...request });
      log.info(request, 'Identity request received');
    },
    behaviourChanged(behaviour: BehaviourName, slowSeconds: number): void {
      changes.inc({ behaviour });
      log.info({ behaviour, ...(behaviour === 'slow' && { slowSeconds }) }, 'Sandbox behaviour changed');
    },
    crossOriginRefused(): void {
      refusals.inc();
      log.warn('Refused a cross-origin change of behaviour');
    },
    failed(error: unknown): void {
      failures.inc();
      log.error({ err: error }, 'Request failed');
    },
  };
}
