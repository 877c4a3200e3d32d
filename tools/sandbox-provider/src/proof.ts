/** What a request proves its user with. */
export interface Proof {
  readonly method: string;
  /** The address that the client asked for, and signed where it signs: query included. */
  readonly url: URL;
  readonly authorization: string | undefined;
  /** What the sandbox's clock says, in Unix time. */
  readonly nowSeconds: number;
}
