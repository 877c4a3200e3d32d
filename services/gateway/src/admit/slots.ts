import { networkOf } from '@echodrop/service/network-of';
import { Refusal } from '../answer/refusals.ts';
import { FailedProofs } from './failed-proofs.ts';
import { RunningUploads } from './running-uploads.ts';

// When one of those that run will end is not known.
const retryAfterSeconds = 5;
const everybody = '';

export interface SlotLimits {
  /** How many requests may run at once. */
  readonly slots: number;
  /** How many of one client address (of IPv6: one /64) may run at once that are anonymous. */
  readonly anonymousPerAddress: number;
  /** How many of one client address may end without a verified caller within a minute; 0: no limit. */
  readonly failuresPerMinutePerAddress: number;
}

/** All limits, by the names that the metric has for them. */
export const slotLimits = [
  'slots',
  'unverified',
  'anonymous',
  'address_unverified',
  'address_anonymous',
  'address_rate',
] as const;

/** Which limit refused a request. */
export type SlotLimit = (typeof slotLimits)[number];

/** `anonymous`: it lasts as long as its sender likes. `unverified`: it ends within seconds unless its caller is verified. */
export type Standing = 'anonymous' | 'unverified';

/**
 * Slots for requests of one kind, in this process. A quarter of them is reserved for requests with a verified caller. Of the others a quarter is
 * reserved for addresses other than the one that has the most, and half for requests that are not anonymous.
 */
export class Slots {
  readonly #running: RunningUploads;
  readonly #unverified: RunningUploads;
  readonly #unverifiedOf: RunningUploads;
  readonly #anonymous: RunningUploads;
  readonly #anonymousOf: RunningUploads;
  readonly #failures: FailedProofs;
  readonly #refused: (limit: SlotLimit) => void;

  /** `refused` is called before each refusal. */
  constructor(
    { slots, anonymousPerAddress, failuresPerMinutePerAddress }: SlotLimits,
    refused: (limit: SlotLimit) => void,
  ) {
    const unverified = slots - quarter(slots);
    this.#running = new RunningUploads(slots);
    this.#unverified = new RunningUploads(unverified);
    this.#unverifiedOf = new RunningUploads(unverified - quarter(unverified));
    this.#anonymous = new RunningUploads(unverified - 2 * quarter(unverified));
    this.#anonymousOf = new RunningUploads(anonymousPerAddress);
    this.#failures = new FailedProofs(failuresPerMinutePerAddress);
    this.#refused = refused;
  }

  /** Takes a slot until it is disposed of. @throws Refusal `overloaded`, or `too_many_requests` for a limit of the client's address */
  take(clientAddress: string, standing: Standing): Slot {
    const network = networkOf(clientAddress);
    using held = new DisposableStack();
    using unverified = new DisposableStack();
    const waitSeconds = this.#failures.retryAfterSeconds(network);
    if (waitSeconds > 0) throw this.#refusal('address_rate', waitSeconds);
    if (!this.#running.enter(everybody, held)) throw this.#refusal('slots');
    if (standing === 'anonymous') {
      if (!this.#anonymousOf.enter(network, unverified)) throw this.#refusal('address_anonymous');
      if (!this.#anonymous.enter(everybody, unverified)) throw this.#refusal('anonymous');
    }
    if (!this.#unverifiedOf.enter(network, unverified)) throw this.#refusal('address_unverified');
    if (!this.#unverified.enter(everybody, unverified)) throw this.#refusal('unverified');
    return new Slot(held.move(), unverified.move(), () => this.#failures.count(network));
  }

  #refusal(limit: SlotLimit, seconds = retryAfterSeconds): Refusal {
    this.#refused(limit);
    const reason = limit.startsWith('address_') ? 'too_many_requests' : 'overloaded';
    return new Refusal(reason, { retryAfterSeconds: seconds });
  }
}

// Of less than four slots none is reserved.
function quarter(slots: number): number {
  return Math.floor(slots / 4);
}

/** The slot of one request, which is anonymous or unverified, then verified. Disposing gives it back. */
export class Slot implements Disposable {
  readonly #held: DisposableStack;
  readonly #unverified: DisposableStack;
  readonly #failed: () => void;
  #isProven = false;

  /** `unverified` is what it holds until it is verified; `failed` is called if it ends without a caller. */
  constructor(held: DisposableStack, unverified: DisposableStack, failed: () => void) {
    this.#held = held;
    this.#unverified = unverified;
    this.#failed = failed;
  }

  /** The caller is known, and may yet be refused: the request still counts against the limits of its address, but not as a failure. */
  proven(): void {
    this.#isProven = true;
  }

  /** The caller is known and welcome: the request does not count against the limits of its address any more. */
  verified(): void {
    this.#isProven = true;
    this.#unverified.dispose();
  }

  [Symbol.dispose](): void {
    if (!this.#isProven) this.#failed();
    this.#unverified.dispose();
    this.#held.dispose();
  }
}
