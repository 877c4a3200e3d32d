/** How long a store may take, in milliseconds. */
export interface StoreDeadlines {
  /** For a call that moves no data, and until the first byte of a read. */
  readonly callMs: number;
  /** For one request of at most a part, and for joining the parts. */
  readonly partMs: number;
  /** For the next bytes of a read that its consumer waits for. */
  readonly idleMs: number;
}

export const defaultDeadlines: StoreDeadlines = { callMs: 5000, partMs: 20_000, idleMs: 10_000 };
