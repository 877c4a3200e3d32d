/** What must never be touched, and that hostile media refers to. */
export interface Canary {
  /** The path of a video that is none of the media's business. */
  readonly file: string;
  /** An http address, without a slash at its end. */
  readonly address: string;
}

/** Media as an attacker may send it: its bytes, then as many zeros as `zeros` says. */
export interface HostileMedia {
  readonly name: string;
  /** Why it is refused, or `type width x height` of what it is taken for: what a header cannot show is accepted. */
  readonly found: string;
  readonly make: (canary: Canary) => Buffer | Promise<Buffer>;
  readonly zeros?: number;
}
