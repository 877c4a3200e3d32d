import { FairSlotQueue } from '@echodrop/service/fair-slot-queue';

const slots = new FairSlotQueue({ slots: 16, maxWaiting: 4096, maxWaitingOfOne: 1024 });
const slotsOfOne = 4;
const waitMs = 10_000;

/** Whether a sender has a slot: then other lists of its own keep it from another. */
export function holdsListSlot(sender: string): boolean {
  return slots.holds(sender);
}

/**
 * Takes one of the process's slots for lists, which disposing of `held` releases. A list takes up to 3 MiB while it is read, and a thousand
 * clients may request one at once. If no slot is free, senders take turns, for at most ten seconds.
 * @returns false if there was no slot in time
 */
export function takeListSlot(sender: string, held: DisposableStack): Promise<boolean> {
  return slots.acquire(sender, slotsOfOne, waitMs, held);
}
