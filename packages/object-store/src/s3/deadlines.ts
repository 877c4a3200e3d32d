/** In milliseconds. */
export interface StoreDeadlines {
  /** For a request that writes nothing, and until the first byte of a read. */
  readonly callMs: number;
  /** For a request that writes up to one part. */
  readonly writeMs: number;
  /** For a request that joins parts: some stores copy them. */
  readonly joinMs: number;
  /** For the next bytes of a read, while its consumer waits. */
  readonly idleMs: number;
  /** One try of several takes no less, unless the whole does. MinIO responds after 5 s while it waits for the drives of a lost node. */
  readonly tryMs: number;
  /**
   * How long a connection is used. A pod of MinIO leaves its Service 40 s before it stops (deploy/kubernetes/overlays/ha/store.yaml). Shorter than a
   * try, so that the next one uses no other connection to a lost node.
   */
  readonly connectionMs: number;
}

export const defaultDeadlines: StoreDeadlines = {
  callMs: 5000,
  writeMs: 20_000,
  joinMs: 60_000,
  idleMs: 10_000,
  tryMs: 6000,
  connectionMs: 5000,
};
