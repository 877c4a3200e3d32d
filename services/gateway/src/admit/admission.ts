import type { Caller } from '@echodrop/contracts/verification';
import { detectMediaType, isPhoto } from '@echodrop/media/media-type';
import { networkOf } from '@echodrop/service/network-of';
import { Refusal } from '../answer/refusals.ts';
import { type MemoryShare, UnverifiedMemory } from '../receive/unverified-memory.ts';
import type { BlockList } from './block-list.ts';
import type { ProbeQueues } from './probe-queues.ts';
import { RunningUploads } from './running-uploads.ts';
import { type Slot, type SlotLimit, type SlotLimits, Slots, type Standing } from './slots.ts';
import type { UploadRates } from './upload-rates.ts';

// When one of those that run will end is not known.
const retryAfterSeconds = 5;

interface Limits extends Omit<SlotLimits, 'slots'> {
  /** How many uploads may run at once in this process, and as many requests about own uploads. */
  readonly maxUploads: number;
  readonly maxUploadsPerUser: number;
  /** The memory for media that came before its credentials, of one upload and of all. */
  readonly unverifiedBufferBytes: number;
}

type Blocks = Pick<BlockList, 'requireUser' | 'requireApplication'>;

interface UploadDeps {
  readonly ofUsers: RunningUploads;
  readonly memory: UnverifiedMemory;
  readonly rates: UploadRates;
  readonly queues: ProbeQueues;
  readonly blocks: Blocks;
}

/** Lets uploads begin, and requests about own uploads, which have slots of their own (docs/decisions/011, 029). */
export class Admission {
  readonly #uploads: Slots;
  readonly #ownRequests: Slots;
  readonly #deps: UploadDeps;

  /** `refused` is called for each request that is refused before anything of it is read. */
  constructor(
    { maxUploads: slots, maxUploadsPerUser, unverifiedBufferBytes, ...perAddress }: Limits,
    rates: UploadRates,
    queues: ProbeQueues,
    blocks: Blocks,
    refused: (limit: SlotLimit) => void,
  ) {
    this.#uploads = new Slots({ slots, ...perAddress }, refused);
    this.#ownRequests = new Slots({ slots, ...perAddress }, refused);
    const [ofUsers, memory] = [new RunningUploads(maxUploadsPerUser), new UnverifiedMemory(unverifiedBufferBytes)];
    this.#deps = { ofUsers, memory, rates, queues, blocks };
  }

  /** Takes a slot for an upload before anything of it is read; disposing gives it back. @throws Refusal `overloaded`, `too_many_requests` */
  admit(clientAddress: string, standing: Standing): AdmittedUpload {
    return new AdmittedUpload(this.#uploads.take(clientAddress, standing), clientAddress, this.#deps);
  }

  /** Takes a slot for a request about own uploads; disposing gives it back. @throws Refusal `overloaded`, `too_many_requests` */
  slot(clientAddress: string): Slot {
    return this.#ownRequests.take(clientAddress, 'unverified');
  }
}

/** An upload that may go on as long as what becomes known of it is within the limits. */
export class AdmittedUpload implements Disposable {
  readonly #held = new DisposableStack();
  readonly #slot: Slot;
  readonly #clientAddress: string;
  readonly #deps: UploadDeps;
  #caller: Caller | undefined;

  constructor(slot: Slot, clientAddress: string, deps: UploadDeps) {
    this.#slot = this.#held.use(slot);
    this.#clientAddress = clientAddress;
    this.#deps = deps;
  }

  /** Its verified user, if there are not too many uploads of the same one. @throws Refusal `caller_blocked`, `too_many_requests` */
  readonly byCaller = async (caller: Caller): Promise<Caller> => {
    this.#slot.proven();
    this.#deps.blocks.requireUser(caller);
    this.#caller = caller;
    const name = JSON.stringify([caller.provider, caller.subject]);
    if (!this.#deps.ofUsers.enter(name, this.#held)) throw new Refusal('too_many_requests', { retryAfterSeconds });
    await this.#deps.rates.countUser(caller);
    // Last: version 1 reads on a form whose caller was refused, and it must count against the limits of its address.
    this.#slot.verified();
    return caller;
  };

  /**
   * Its form is complete, and its API key is that of `application`. Its user may have been blocked since it began.
   * @throws Refusal `application_blocked`, `caller_blocked`, `too_many_requests`
   */
  async fromApplication(application: string): Promise<void> {
    this.#deps.blocks.requireApplication(application);
    if (this.#caller) this.#deps.blocks.requireUser(this.#caller);
    await this.#deps.rates.countKey(application);
  }

  /** Opens its share of the memory for media that comes before the credentials. */
  readonly openMemory = (crowdOut: (reason: Refusal) => void): MemoryShare =>
    this.#deps.memory.open(networkOf(this.#clientAddress), crowdOut);

  /** Its media begins with these bytes. Only what a probe-worker probes needs its queue; a JPEG mostly does not. @throws Refusal `overloaded` */
  readonly withMedia = async (first: Buffer): Promise<void> => {
    const type = detectMediaType(first);
    if (type === undefined || type === 'jpg') return;
    await this.#deps.queues.requireRoom(isPhoto(type) ? 'photos' : 'videos');
  };

  [Symbol.dispose](): void {
    this.#held.dispose();
  }
}
