/** What the provider said is no verdict. It is there all the same: were this to open its breaker, a hostile request could shut out everybody. */
export class NoVerdict extends Error {}

/**
 * The provider has had too many questions: for one user, or from us; that it does not say. `isOfGuest`: about a token that it has not
 * verified lately, which anybody can make up as many of as they like.
 */
export class TooManyQuestions extends Error {
  readonly restMs: number;
  readonly isOfGuest: boolean;

  constructor(restMs: number, isOfGuest: boolean) {
    super(`provider answered 429, to be left alone for ${Math.ceil(restMs / 1000)} s`);
    this.restMs = restMs;
    this.isOfGuest = isOfGuest;
  }
}
