import type { Caller } from '@echodrop/contracts/verification';
import { isPhoto, mediaTypeOf } from '@echodrop/media/media-type';
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

/** Lets uploads begin (docs/decisions/011). */
export class Admission {
  readonly #running: RunningUploads;
  readonly #ofUsers: RunningUploads;
  readonly #rates: UploadRates;
  readonly #queues: ProbeQueues;

  constructor({ maxUploads, maxUploadsPerUser }: Limits, rates: UploadRates, queues: ProbeQueues) {
    this.#running = new RunningUploads(maxUploads);
    this.#ofUsers = new RunningUploads(maxUploadsPerUser);
    this.#rates = rates;
    this.#queues = queues;
  }

  /** Takes a slot for an upload of which nothing was looked at yet; disposing gives it back. @throws Refusal `overloaded` */
  async admit(): Promise<AdmittedUpload> {
    using held = new DisposableStack();
    if (!this.#running.enter(everybody, held)) throw new Refusal('overloaded', { retryAfterSeconds });
    await this.#queues.requireRoom('photos');
    return new AdmittedUpload(held.move(), this.#ofUsers, this.#rates, this.#queues);
  }
}

/** An upload that may go on as long as what becomes known of it is within the limits. */
export class AdmittedUpload implements Disposable {
  readonly #held: DisposableStack;
  readonly #ofUsers: RunningUploads;
  readonly #rates: UploadRates;
  readonly #queues: ProbeQueues;

  constructor(held: DisposableStack, ofUsers: RunningUploads, rates: UploadRates, queues: ProbeQueues) {
    this.#held = held;
    this.#ofUsers = ofUsers;
    this.#rates = rates;
    this.#queues = queues;
  }

  /** Its verified user, if there are not too many uploads of the same one. @throws Refusal `too_many_requests` */
  readonly byCaller = async (caller: Caller): Promise<Caller> => {
    const name = JSON.stringify([caller.provider, caller.subject]);
    if (!this.#ofUsers.enter(name, this.#held)) throw new Refusal('too_many_requests', { retryAfterSeconds });
    await this.#rates.countUser(caller);
    return caller;
  };

  /** Its API key is that of `application`. @throws Refusal `too_many_requests` */
  async fromApplication(application: string): Promise<void> {
    await this.#rates.countKey(application);
  }

  /** Its media begins with these bytes: films wait in a queue of their own. @throws Refusal `overloaded` */
  readonly withMedia = async (first: Buffer): Promise<void> => {
    const type = mediaTypeOf(first);
    if (type !== undefined && !isPhoto(type)) await this.#queues.requireRoom('films');
  };

  [Symbol.dispose](): void {
    this.#held.dispose();
  }
}
