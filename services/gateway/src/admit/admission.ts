import { ownerHash } from '@echodrop/archive/owner';
import type { ProbeClient, ProbeKind } from '@echodrop/contracts/probe';
import type { Caller } from '@echodrop/contracts/verification';
import { isPhoto, type MediaType } from '@echodrop/media/detect-media-type';
import { networkOf } from '@echodrop/service/ip-address';
import { Refusal } from '../response/refusal-error.ts';
import type { BlockList } from './block-list.ts';
import type { Slot, Slots, Standing } from './slots.ts';
import type { MemoryShare, UnverifiedMemory } from './unverified-memory.ts';
import type { UploadRates } from './upload-rates.ts';

// Half of what one probe-worker was measured to do in a second on two cores.
const probesPerSecond: Record<ProbeKind, number> = { photos: 500, videos: 12 };

interface AdmissionDeps {
  readonly slots: Pick<Slots, 'acquire'>;
  /** Memory for media that precedes its credentials. */
  readonly memory: UnverifiedMemory;
  readonly rates: UploadRates;
  readonly probes: Pick<ProbeClient, 'backlog'>;
  readonly probeTimeoutMs: number;
  readonly blocks: Pick<BlockList, 'refuseBlockedUser' | 'refuseBlockedApplication'>;
}

/** Admits uploads (docs/decisions/admission-and-idempotency.md). */
export class Admission {
  readonly #deps: AdmissionDeps;

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /** Takes a slot for an upload, which disposing releases. @throws Refusal `overloaded`, `too_many_requests` */
  admitUpload(clientAddress: string, standing: Standing): AdmittedUpload {
    return new AdmittedUpload(this.#deps.slots.acquire(clientAddress, standing), clientAddress, this.#deps);
  }
}

/** An upload that has a slot. Each method admits it one step further. */
export class AdmittedUpload implements Disposable {
  readonly #slot: Slot;
  readonly #clientAddress: string;
  readonly #deps: AdmissionDeps;
  #caller: Caller | undefined;

  constructor(slot: Slot, clientAddress: string, deps: AdmissionDeps) {
    this.#slot = slot;
    this.#clientAddress = clientAddress;
    this.#deps = deps;
  }

  /** `isNew`: the request counts as an upload. @returns the verified caller. @throws Refusal `caller_blocked`, `too_many_requests` */
  async admitCaller(caller: Caller, isNew = true): Promise<Caller> {
    this.#slot.excuse();
    this.#deps.blocks.refuseBlockedUser(caller);
    this.#caller = caller;
    this.#slot.moveToUser(ownerHash(caller));
    if (isNew) await this.#deps.rates.countUser(caller);
    // This comes last: a form of version 1 is read on after its caller was refused, and must then count against the limits of its address.
    this.#slot.markVerified();
    return caller;
  }

  /** Does what `Slot.excuse` does. */
  excuse(): void {
    this.#slot.excuse();
  }

  /** Opens memory for media that precedes the credentials. `crowdOut` must close it before it returns. */
  openMemory(crowdOut: (reason: Refusal) => void): MemoryShare {
    return this.#deps.memory.open(networkOf(this.#clientAddress), crowdOut);
  }

  /**
   * Checks whether a probe would end in time. A probe may wait for half of the time: the other half exceeds the longest probe (10 of 25 s).
   * Most JPEGs need no probe-worker. @throws Refusal `overloaded`
   */
  async admitMedia(type: MediaType | undefined): Promise<void> {
    if (type === undefined || type === 'jpg') return;
    const kind = isPhoto(type) ? 'photos' : 'videos';
    const { waiting, oldestMs } = await this.#deps.probes.backlog(kind);
    const maxWaitMs = this.#deps.probeTimeoutMs / 2;
    const isFull = oldestMs > maxWaitMs || waiting > (probesPerSecond[kind] * maxWaitMs) / 1000;
    if (isFull) throw new Refusal('overloaded');
  }

  /** Checks application and user, who may have been blocked meanwhile. @throws Refusal `*_blocked`, `too_many_requests` */
  async admitApplication(application: string, isNew = true): Promise<void> {
    this.#deps.blocks.refuseBlockedApplication(application);
    if (this.#caller) this.#deps.blocks.refuseBlockedUser(this.#caller);
    if (isNew) await this.#deps.rates.countKey(application);
  }

  [Symbol.dispose](): void {
    this.#slot[Symbol.dispose]();
  }
}
