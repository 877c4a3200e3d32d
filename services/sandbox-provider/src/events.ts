import type { ProfileName } from '@echodrop/identity-provider/provider-profiles';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics';
import type { BehaviourName } from './behaviours.ts';
import type { Fault } from './profile.ts';

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
      'echodrop_sandbox_questions_total',
      'Questions who a user is, by kind of provider, by what their proof was, and by how the sandbox behaved.',
      ['profile', 'outcome', 'behaviour'],
    );
    this.#switched = metrics.counter('echodrop_sandbox_switched_total', 'Changes of behaviour.', ['behaviour']);
    this.#keptOut = metrics.counter(
      'echodrop_sandbox_kept_out_total',
      'Changes of behaviour that a page elsewhere on the web asked for.',
    );
    this.#failures = metrics.counter('echodrop_sandbox_failures_total', 'Requests that failed.');
  }

  asked({ profile, outcome, behaviour }: Question): void {
    this.#questions.inc({ profile, outcome, behaviour });
    this.#log.info({ profile, outcome, behaviour }, 'asked');
  }

  switched(behaviour: BehaviourName, slowSeconds: number): void {
    this.#switched.inc({ behaviour });
    this.#log.info({ behaviour, slowSeconds }, 'behaviour changed');
  }

  keptOut(): void {
    this.#keptOut.inc();
    this.#log.warn('a page elsewhere on the web asked for another behaviour');
  }

  failed(error: unknown): void {
    this.#failures.inc();
    this.#log.error({ err: error }, 'a request failed');
  }
}
