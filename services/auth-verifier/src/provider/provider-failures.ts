/** The provider responded, but without a verdict. Does not count as a failure: a hostile request could otherwise open the circuit. */
export class InvalidResponse extends Error {}

/** Status 429, for one user or for all requests. `isUnknownToken`: the token was not verified recently and may be made up. */
export class TooManyRequests extends Error {
  readonly retryMs: number;
  readonly isUnknownToken: boolean;

  constructor(retryMs: number, isUnknownToken: boolean) {
    super(`provider responded 429, retry after ${Math.ceil(retryMs / 1000)} s`);
    this.retryMs = retryMs;
    this.isUnknownToken = isUnknownToken;
  }
}
