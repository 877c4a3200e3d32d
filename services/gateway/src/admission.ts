import type { Caller } from '@echodrop/contracts/verification';
import { isPhoto, mediaTypeOf } from '@echodrop/media/media-type';
import type { BlockList } from './block-list.ts';
import type { ProbeQueues } from './probe-queues.ts';
import { Refusal } from './refusals.ts';
import { RunningUploads } from './running-uploads.ts';
import type { UploadRates } from './upload-rates.ts';

// When one of those that run will end is not known.
const retryAfterSeconds = 5;
const everybody = '';

interface Limits {
  /** How many uploads may run at once in this process. */
  readonly maxUploads: number;
  readonly maxUploadsPerUser: number;
}

type Blocks = Pick<BlockList, 'requireUser' | 'requireApplication'>;

interface Means {
  readonly ofUsers: RunningUploads;
  readonly rates: UploadRates;
  readonly queues: ProbeQueues;
  readonly blocks: Blocks;
}

/** Lets uploads begin (docs/decisions/011). */
export class Admission {
  readonly #running: RunningUploads;
  readonly #means: Means;

  constructor({ maxUploads, maxUploadsPerUser }: Limits, rates: UploadRates, queues: ProbeQueues, blocks: Blocks) {
    this.#running = new RunningUploads(maxUploads);
    this.#means = { ofUsers: new RunningUploads(maxUploadsPerUser), rates, queues, blocks };
  }

  /** Takes a slot for an upload of which nothing was looked at yet; disposing gives it back. @throws Refusal `overloaded` */
  admit(): AdmittedUpload {
    return new AdmittedUpload(this.slot(), this.#means);
  }

  /** A slot for what is no upload, until it is disposed of. @throws Refusal `overloaded` */
  slot(): DisposableStack {
    using held = new DisposableStack();
    if (!this.#running.enter(everybody, held)) throw new Refusal('overloaded', { retryAfterSeconds });
    return held.move();
  }
}

/** An upload that may go on as long as what becomes known of it is within the limits. */
export class AdmittedUpload implements Disposable {
  readonly #held: DisposableStack;
  readonly #means: Means;
  #caller: Caller | undefined;

  constructor(held: DisposableStack, means: Means) {
    this.#held = held;
    this.#means = means;
  }

  /** Its verified user, if there are not too many uploads of the same one. @throws Refusal `caller_blocked`, `too_many_requests` */
  readonly byCaller = async (caller: Caller): Promise<Caller> => {
    this.#means.blocks.requireUser(caller);
    this.#caller = caller;
    const name = JSON.stringify([caller.provider, caller.subject]);
    if (!this.#means.ofUsers.enter(name, this.#held)) throw new Refusal('too_many_requests', { retryAfterSeconds });
    await this.#means.rates.countUser(caller);
    return caller;
  };

  /**
   * Its form is complete, and its API key is that of `application`. Its user may have been blocked since it began.
   * @throws Refusal `application_blocked`, `caller_blocked`, `too_many_requests`
   */
  async fromApplication(application: string): Promise<void> {
    this.#means.blocks.requireApplication(application);
    if (this.#caller) this.#means.blocks.requireUser(this.#caller);
    await this.#means.rates.countKey(application);
  }

  /** Its media begins with these bytes. Only what a probe-worker probes needs its queue; a JPEG mostly does not. @throws Refusal `overloaded` */
  readonly withMedia = async (first: Buffer): Promise<void> => {
    const type = mediaTypeOf(first);
    if (type === undefined || type === 'jpg') return;
    await this.#means.queues.requireRoom(isPhoto(type) ? 'photos' : 'films');
  };

  [Symbol.dispose](): void {
    this.#held.dispose();
  }
}
