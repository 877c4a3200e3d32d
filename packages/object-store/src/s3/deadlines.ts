/** The longest times of requests and connections, in milliseconds. */
export interface StoreDeadlines {
  /** A request that writes nothing, or the start of a read until its first byte. */
  readonly callMs: number;
  /** A request that writes up to one part. */
  readonly writeMs: number;
  /** A request that joins parts. Some stores copy the parts. */
  readonly joinMs: number;
  /** The wait of a consumer for the next bytes of a read. */
  readonly idleMs: number;
  /** A try of several takes at least this time, if the whole time allows it. MinIO responds after 5 s while it waits for the drives of a lost node. */
  readonly tryMs: number;
  /**
   * How long a connection is used. A pod of MinIO leaves its Service 40 s before it stops (deploy/kubernetes/overlays/ha/store.yaml). A try takes
   * longer, so that the next try uses no other connection to a lost node.
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
