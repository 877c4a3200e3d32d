/** A command did what it could, and something is wrong all the same: the exit status is 1. */
export class Failing extends Error {
  override readonly name = 'Failing';
}
