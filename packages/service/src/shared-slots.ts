/** A slot of one sender. Disposing releases it. */
export interface SharedSlot extends Disposable {
  /** Counts the slot for another sender, which may hold `most`. @returns false, and changes nothing, if that sender gets no further one */
  readonly moveTo: (sender: string, most: number) => boolean;
}

/**
 * Slots that senders share. A sender that holds more than are free gets no further one: the first sender can take half of the slots, and each
 * further one half of the rest. So a few senders never take all, and no slot is reserved.
 */
export class SharedSlots {
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Whether a sender has a slot. If so, a refusal of another is due to its share. */
  holds(sender: string): boolean {
    return this.#held.has(sender);
  }

  /** @param most slots that this sender may hold @returns undefined if none is free for it */
  acquire(sender: string, most = Number.POSITIVE_INFINITY): SharedSlot | undefined {
    if (!this.#mayTake(sender, most)) return undefined;
    let holder = sender;
    let isReleased = false;
    this.#count(holder, 1);
    return {
      moveTo: (next, mostOfNext) => {
        if (isReleased) throw new ReferenceError('the slot has been released');
        this.#count(holder, -1);
        const isMoved = this.#mayTake(next, mostOfNext);
        if (isMoved) holder = next;
        this.#count(holder, 1);
        return isMoved;
      },
      [Symbol.dispose]: () => {
        if (isReleased) return;
        isReleased = true;
        this.#count(holder, -1);
      },
    };
  }

  #mayTake(sender: string, most: number): boolean {
    const held = this.#held.get(sender) ?? 0;
    return this.#free > 0 && held < most && held <= this.#free;
  }

  #count(sender: string, change: 1 | -1): void {
    const held = (this.#held.get(sender) ?? 0) + change;
    if (held > 0) this.#held.set(sender, held);
    else this.#held.delete(sender);
    this.#free -= change;
  }
}
