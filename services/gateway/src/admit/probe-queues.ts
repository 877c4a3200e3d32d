import type { ProbeClient, ProbeKind } from '@echodrop/contracts/probe';
import { Refusal } from '../answer/refusals.ts';

const retryAfterSeconds = 5;

// Half of what one probe-worker was measured to do in a second on two cores.
const probesPerSecond: Record<ProbeKind, number> = { photos: 500, videos: 12 };

/** Whether a new probe would end in time. It may wait for half of its time: the rest exceeds the longest probe (10 of 25 s). */
export class ProbeQueues {
  readonly #probes: Pick<ProbeClient, 'backlog'>;
  readonly #maxWaitMs: number;

  constructor(probes: Pick<ProbeClient, 'backlog'>, probeTimeoutMs: number) {
    this.#probes = probes;
    this.#maxWaitMs = probeTimeoutMs / 2;
  }

  /** @throws Refusal `overloaded` if the queue is too long, or its oldest job too old */
  async requireCapacity(kind: ProbeKind): Promise<void> {
    const { waiting, oldestMs } = await this.#probes.backlog(kind);
    const maxWaiting = (probesPerSecond[kind] * this.#maxWaitMs) / 1000;
    if (oldestMs > this.#maxWaitMs || waiting > maxWaiting) throw new Refusal('overloaded', { retryAfterSeconds });
  }
}
