import type { ProbeClient, ProbeKind } from '@echodrop/contracts/probe';
import { Refusal } from '../answer/refusals.ts';

const retryAfterSeconds = 5;

// What one probe worker answers in a second: half of what was measured on two cores.
const answeredPerSecond: Record<ProbeKind, number> = { photos: 500, videos: 12 };

/**
 * Whether a probe that is asked for now would be answered in time. Half of the probe's time may be spent waiting: what is left
 * is still longer than one look may take (10 of 25 s).
 */
export class ProbeQueues {
  readonly #probes: Pick<ProbeClient, 'backlog'>;
  readonly #maxWaitMs: number;

  constructor(probes: Pick<ProbeClient, 'backlog'>, probeTimeoutMs: number) {
    this.#probes = probes;
    this.#maxWaitMs = probeTimeoutMs / 2;
  }

  /** @throws Refusal `overloaded` where the queue is longer, or its oldest job older, than that allows */
  async requireRoom(kind: ProbeKind): Promise<void> {
    const { waiting, oldestMs } = await this.#probes.backlog(kind);
    const maxWaiting = (answeredPerSecond[kind] * this.#maxWaitMs) / 1000;
    if (oldestMs > this.#maxWaitMs || waiting > maxWaiting) throw new Refusal('overloaded', { retryAfterSeconds });
  }
}
