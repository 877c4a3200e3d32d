import { ConcurrencyLimit } from '@echodrop/service/concurrency-limit';
import { networkOf } from '@echodrop/service/ip-address';
import { Refusal } from '../response/refusal-error.ts';
import { FailedVerifications } from './failed-verifications.ts';

const allNetworks = '';

export interface SlotLimits {
  /** Requests at once. */
  readonly slots: number;
  /** Anonymous requests at once of one client address (IPv6: one /64). */
  readonly anonymousPerAddress: number;
  /** Requests of one client address that end without a verified caller; 0: no limit. */
  readonly failuresPerMinutePerAddress: number;
}

/** The limits, as the metric's label has them. */
export const slotLimits = [
  'slots',
  'unverified',
  'anonymous',
  'address_unverified',
  'address_anonymous',
  'address_rate',
] as const;

export type SlotLimit = (typeof slotLimits)[number];

/** `unverified`: ends within seconds unless its caller is verified. `anonymous`: lasts as long as its sender likes. */
export type Standing = 'anonymous' | 'unverified';

/** The slot of one request. Disposing releases it. */
export interface Slot extends Disposable {
  /** The request is no failure of its address: its caller is known but refused, or no provider was queried. */
  readonly excuse: () => void;
  /** The caller is admitted: the request no longer counts against the limits of its address. */
  readonly markVerified: () => void;
}

/**
 * Slots for requests of one kind, in this process. A quarter is reserved for requests with a verified caller. Of the others a quarter is
 * reserved for addresses other than the one that has the most, and half for requests that are not anonymous.
 */
export class Slots {
  readonly #running: ConcurrencyLimit;
  readonly #unverified: ConcurrencyLimit;
  readonly #unverifiedPerAddress: ConcurrencyLimit;
  readonly #anonymous: ConcurrencyLimit;
  readonly #anonymousPerAddress: ConcurrencyLimit;
  readonly #failures: FailedVerifications;
  readonly #onRefused: (limit: SlotLimit) => void;

  constructor(
    { slots, anonymousPerAddress, failuresPerMinutePerAddress }: SlotLimits,
    onRefused: (limit: SlotLimit) => void,
  ) {
    const unverified = slots - quarter(slots);
    this.#running = new ConcurrencyLimit(slots);
    this.#unverified = new ConcurrencyLimit(unverified);
    this.#unverifiedPerAddress = new ConcurrencyLimit(unverified - quarter(unverified));
    this.#anonymous = new ConcurrencyLimit(unverified - 2 * quarter(unverified));
    this.#anonymousPerAddress = new ConcurrencyLimit(anonymousPerAddress);
    this.#failures = new FailedVerifications(failuresPerMinutePerAddress);
    this.#onRefused = onRefused;
  }

  /** Takes a slot, which disposing releases. @throws Refusal `overloaded`, or `too_many_requests` for a limit of the client's address */
  acquire(clientAddress: string, standing: Standing): Slot {
    const network = networkOf(clientAddress);
    using held = new DisposableStack();
    using unverified = new DisposableStack();
    const waitSeconds = this.#failures.retryAfterSeconds(network);
    if (waitSeconds > 0) throw this.#refusal('address_rate', waitSeconds);
    if (!this.#running.acquire(allNetworks, held)) throw this.#refusal('slots');
    if (standing === 'anonymous') {
      if (!this.#anonymousPerAddress.acquire(network, unverified)) throw this.#refusal('address_anonymous');
      if (!this.#anonymous.acquire(allNetworks, unverified)) throw this.#refusal('anonymous');
    }
    if (!this.#unverifiedPerAddress.acquire(network, unverified)) throw this.#refusal('address_unverified');
    if (!this.#unverified.acquire(allNetworks, unverified)) throw this.#refusal('unverified');
    let isExcused = false;
    const excuse = () => {
      isExcused = true;
    };
    const untilVerified = held.use(unverified.move());
    held.defer(() => isExcused || this.#failures.count(network));
    const slot = held.move();
    const markVerified = () => {
      excuse();
      untilVerified.dispose();
    };
    return { excuse, markVerified, [Symbol.dispose]: () => slot.dispose() };
  }

  #refusal(limit: SlotLimit, retryAfterSeconds?: number): Refusal {
    this.#onRefused(limit);
    if (!limit.startsWith('address_')) return new Refusal('overloaded', { retryAfterSeconds });
    const message = limit === 'address_rate' ? 'addressRate' : 'addressUploads';
    return new Refusal('too_many_requests', { message, retryAfterSeconds });
  }
}

function quarter(slots: number): number {
  return Math.floor(slots / 4);
}
