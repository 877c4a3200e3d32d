/** A command did what it could, and found or left something wrong. The exit status is 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}
