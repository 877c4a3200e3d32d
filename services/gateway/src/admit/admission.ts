import { ownerHash } from '@echodrop/archive/owner';
import type { ProbeClient, ProbeKind } from '@echodrop/contracts/probe';
import type { Caller } from '@echodrop/contracts/verification';
import { isPhoto, type MediaType } from '@echodrop/media/detect-media-type';
import { networkOf } from '@echodrop/service/ip-address';
import { Refusal } from '../response/refusal-error.ts';
import type { BlockList } from './block-list.ts';
import { type Slot, type SlotLimit, type SlotLimits, Slots, type Standing } from './slots.ts';
import { type MemoryShare, UnverifiedMemory } from './unverified-memory.ts';
import type { UploadRates } from './upload-rates.ts';

// Half of what one probe-worker was measured to do in a second on two cores.
const probesPerSecond: Record<ProbeKind, number> = { photos: 500, videos: 12 };

/** Of uploads, and of requests about own uploads, which have as many slots. */
interface Limits extends SlotLimits {
  /** Memory for media that precedes its credentials, of one upload and of all. */
  readonly unverifiedBufferBytes: number;
}

interface AdmissionDeps {
  readonly rates: UploadRates;
  readonly probes: Pick<ProbeClient, 'backlog'>;
  readonly probeTimeoutMs: number;
  readonly blocks: Pick<BlockList, 'refuseBlockedUser' | 'refuseBlockedApplication'>;
  /** Called for each request that is refused before anything of it is read. */
  readonly onRefused: (limit: SlotLimit) => void;
}

/** Admits uploads, and requests about own uploads, which have slots of their own (docs/decisions/admission-and-idempotency.md). */
export class Admission {
  readonly #uploads: Slots;
  readonly #ownRequests: Slots;
  readonly #deps: AdmittedUploadDeps;

  constructor({ unverifiedBufferBytes, ...limits }: Limits, deps: AdmissionDeps) {
    this.#uploads = new Slots(limits, deps.onRefused);
    this.#ownRequests = new Slots(limits, deps.onRefused);
    this.#deps = { ...deps, memory: new UnverifiedMemory(unverifiedBufferBytes) };
  }

  /** Takes a slot for an upload, which disposing releases. @throws Refusal `overloaded`, `too_many_requests` */
  admitUpload(clientAddress: string, standing: Standing): AdmittedUpload {
    return new AdmittedUpload(this.#uploads.acquire(clientAddress, standing), clientAddress, this.#deps);
  }

  /** Takes a slot for a request about own uploads, which disposing releases. @throws Refusal `overloaded`, `too_many_requests` */
  admitOwnRequest(clientAddress: string): AdmittedOwnRequest {
    const slot = this.#ownRequests.acquire(clientAddress, 'unverified');
    return {
      excuse: slot.excuse,
      admitCaller: (caller) => {
        slot.excuse();
        slot.moveToUser(ownerHash(caller));
        return caller;
      },
      [Symbol.dispose]: () => slot[Symbol.dispose](),
    };
  }
}

/** A request about own uploads that has a slot. */
export interface AdmittedOwnRequest extends Disposable {
  /** See Slot. */
  readonly excuse: () => void;
  /** @returns the verified caller. @throws Refusal `too_many_requests` */
  readonly admitCaller: (caller: Caller) => Caller;
}

interface AdmittedUploadDeps extends AdmissionDeps {
  readonly memory: UnverifiedMemory;
}

/** An upload that has a slot. Each method admits it one step further. */
export class AdmittedUpload implements Disposable {
  readonly #slot: Slot;
  readonly #clientAddress: string;
  readonly #deps: AdmittedUploadDeps;
  #caller: Caller | undefined;

  constructor(slot: Slot, clientAddress: string, deps: AdmittedUploadDeps) {
    this.#slot = slot;
    this.#clientAddress = clientAddress;
    this.#deps = deps;
  }

  /** `isNew`: counts as an upload. @returns the verified caller. @throws Refusal `caller_blocked`, `too_many_requests` */
  readonly admitCaller = async (caller: Caller, isNew = true): Promise<Caller> => {
    this.#slot.excuse();
    this.#deps.blocks.refuseBlockedUser(caller);
    this.#caller = caller;
    this.#slot.moveToUser(ownerHash(caller));
    if (isNew) await this.#deps.rates.countUser(caller);
    // Last: a form of version 1 is read on after its caller was refused, and must then count against the limits of its address.
    this.#slot.markVerified();
    return caller;
  };

  /** See Slot. */
  readonly excuse = (): void => this.#slot.excuse();

  /** Opens memory for media that precedes the credentials. `crowdOut` must close it before it returns. */
  readonly openMemory = (crowdOut: (reason: Refusal) => void): MemoryShare =>
    this.#deps.memory.open(networkOf(this.#clientAddress), crowdOut);

  /**
   * Checks whether a probe would end in time. It may wait for half of that: the rest exceeds the longest probe (10 of 25 s).
   * Most JPEGs need no probe-worker. @throws Refusal `overloaded`
   */
  readonly admitMedia = async (type: MediaType | undefined): Promise<void> => {
    if (type === undefined || type === 'jpg') return;
    const kind = isPhoto(type) ? 'photos' : 'videos';
    const { waiting, oldestMs } = await this.#deps.probes.backlog(kind);
    const maxWaitMs = this.#deps.probeTimeoutMs / 2;
    const isFull = oldestMs > maxWaitMs || waiting > (probesPerSecond[kind] * maxWaitMs) / 1000;
    if (isFull) throw new Refusal('overloaded');
  };

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
