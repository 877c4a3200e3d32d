import { networkOf } from '@echodrop/service/ip-address';
import { SharedSlots } from '@echodrop/service/shared-slots';
import { Refusal } from '../response/refusal-error.ts';
import { FailedVerifications } from './failed-verifications.ts';

export interface SlotLimits {
  /** Requests at once. */
  readonly slots: number;
  /** Requests at once of one user. */
  readonly perUser: number;
  /** Anonymous requests at once of one client address (IPv6: one /56). */
  readonly anonymousPerAddress: number;
  /** Requests of one client address that end without a verified caller. */
  readonly failuresPerMinutePerAddress: number;
}

/** The limits, as the metric's label has them. */
export const slotLimits = ['slots', 'anonymous', 'address_unverified', 'address_anonymous', 'address_rate'] as const;

export type SlotLimit = (typeof slotLimits)[number];

/** `unverified`: ends within seconds unless its caller is verified. `anonymous`: lasts as long as its sender likes. */
export type Standing = 'anonymous' | 'unverified';

/** The slot of one request. Disposing releases it. */
export interface Slot extends Disposable {
  /** The request is no failure of its address: its caller is known but refused, or no provider was queried. */
  readonly excuse: () => void;
  /** From now on the slot counts for this user, no longer for its address. @throws Refusal `too_many_requests` */
  readonly moveToUser: (user: string) => void;
  /** The caller is admitted: the request is no longer anonymous, and no failure of its address. */
  readonly markVerified: () => void;
}

/**
 * Slots for requests of one kind, in this process. Senders share them: until its caller is verified, the client's network, then the user.
 * Half of them are reserved for requests that are not anonymous.
 */
export class Slots {
  readonly #all: SharedSlots;
  readonly #anonymous: SharedSlots;
  readonly #perUser: number;
  readonly #anonymousPerAddress: number;
  readonly #failures: FailedVerifications;
  readonly #onRefused: (limit: SlotLimit) => void;

  constructor(
    { slots, perUser, anonymousPerAddress, failuresPerMinutePerAddress }: SlotLimits,
    onRefused: (limit: SlotLimit) => void,
  ) {
    this.#all = new SharedSlots(slots);
    this.#anonymous = new SharedSlots(Math.ceil(slots / 2));
    this.#perUser = perUser;
    this.#anonymousPerAddress = anonymousPerAddress;
    this.#failures = new FailedVerifications(failuresPerMinutePerAddress);
    this.#onRefused = onRefused;
  }

  /** Takes a slot, which disposing releases. @throws Refusal `too_many_requests` for a limit of the client's address, `overloaded` if others hold all */
  acquire(clientAddress: string, standing: Standing): Slot {
    const network = networkOf(clientAddress);
    using held = new DisposableStack();
    const waitSeconds = this.#failures.retryAfterSeconds(network);
    if (waitSeconds > 0) throw this.#refusal('address_rate', waitSeconds);
    const anonymous = held.use(standing === 'anonymous' ? this.#acquireAnonymous(network) : undefined);
    const sender = nameOf('network', network);
    const slot = held.use(this.#all.acquire(sender));
    if (!slot) throw this.#refusal(this.#all.holds(sender) ? 'address_unverified' : 'slots');
    let isExcused = false;
    const excuse = () => {
      isExcused = true;
    };
    held.defer(() => isExcused || this.#failures.count(network));
    const untilEnd = held.move();
    return {
      excuse,
      moveToUser: (user) => {
        if (!slot.moveTo(nameOf('user', user), this.#perUser))
          throw new Refusal('too_many_requests', { message: 'userUploads' });
      },
      markVerified: () => {
        excuse();
        anonymous?.[Symbol.dispose]();
      },
      [Symbol.dispose]: () => untilEnd.dispose(),
    };
  }

  #acquireAnonymous(network: string): Disposable {
    const slot = this.#anonymous.acquire(network, this.#anonymousPerAddress);
    if (!slot) throw this.#refusal(this.#anonymous.holds(network) ? 'address_anonymous' : 'anonymous');
    return slot;
  }

  #refusal(limit: SlotLimit, retryAfterSeconds?: number): Refusal {
    this.#onRefused(limit);
    if (!limit.startsWith('address_')) return new Refusal('overloaded', { retryAfterSeconds });
    const message = limit === 'address_rate' ? 'addressRate' : 'addressUploads';
    return new Refusal('too_many_requests', { message, retryAfterSeconds });
  }
}

// A user's name must not be that of a network.
function nameOf(kind: 'network' | 'user', name: string): string {
  return `${kind} ${name}`;
}
