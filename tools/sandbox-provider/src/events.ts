import type { ProfileName } from '@echodrop/identity-provider/provider-profiles';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import type { BehaviourName } from './behaviours.ts';
import type { Fault } from './profiles/profile.ts';

interface Question {
  readonly profile: ProfileName;
  /** What the proof was found to be, whatever is then said. */
  readonly outcome: 'verified' | Fault;
  readonly behaviour: BehaviourName;
}

/** What happens in the sandbox provider, as log lines and metrics. */
export class SandboxEvents {
  readonly #log: Log;
  readonly #questions;
  readonly #switched;
  readonly #keptOut;
  readonly #failures;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    this.#questions = metrics.counter(
      'echodrop_sandbox_requests_total',
      'Identity requests by provider profile, proof outcome and sandbox behaviour.',
      ['profile', 'outcome', 'behaviour'],
    );
    this.#switched = metrics.counter('echodrop_sandbox_behaviour_changes_total', 'Behaviour changes.', ['behaviour']);
    this.#keptOut = metrics.counter(
      'echodrop_sandbox_cross_origin_refused_total',
      'Refused cross-origin changes of behaviour.',
    );
    this.#failures = metrics.counter('echodrop_sandbox_failures_total', 'Failed requests.');
  }

  asked({ profile, outcome, behaviour }: Question): void {
    this.#questions.inc({ profile, outcome, behaviour });
    this.#log.info({ profile, outcome, behaviour }, 'Identity request answered');
  }

  switched(behaviour: BehaviourName, slowSeconds: number): void {
    this.#switched.inc({ behaviour });
    this.#log.info({ behaviour, slowSeconds }, 'Sandbox behaviour changed');
  }

  keptOut(): void {
    this.#keptOut.inc();
    this.#log.warn('Refused a cross-origin change of behaviour');
  }

  failed(error: unknown): void {
    this.#failures.inc();
    this.#log.error({ err: error }, 'Request failed');
  }
}
