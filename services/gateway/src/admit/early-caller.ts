import type { Caller, Credentials } from '@echodrop/contracts/verification';
import { Refusal } from '../answer/refusals.ts';
import type { FieldName } from '../receive/part-headers.ts';
import { credentialsFromFields } from './credentials.ts';

/** Version 1's caller: asked for when the four secrets have been read, while the form is still coming. */
export class EarlyCaller {
  readonly #verify: (credentials: Credentials) => Promise<Caller>;
  readonly #verified = Promise.withResolvers<Caller>();
  #isAsked = false;

  constructor(verify: (credentials: Credentials) => Promise<Caller>) {
    this.#verify = verify;
    // A failure is told in its turn, by whoever awaits the caller.
    this.#verified.promise.catch(() => {});
  }

  /** Asks as soon as `fields` hold the credentials, and only once. */
  readonly fieldRead = (fields: ReadonlyMap<FieldName, string>): void => {
    const credentials = this.#isAsked ? undefined : credentialsFromFields(fields);
    if (!credentials) return;
    this.#isAsked = true;
    this.#verify(credentials).then(this.#verified.resolve, this.#verified.reject);
  };

  /** Whether the four secrets have been read. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** Settles with the caller; pending for ever where the secrets do not come. */
  get verified(): Promise<Caller> {
    return this.#verified.promise;
  }

  /** The caller, who is being asked for. @throws Refusal `credentials_missing` where the secrets have not come */
  get caller(): Promise<Caller> {
    if (!this.#isAsked) throw new Refusal('credentials_missing');
    return this.#verified.promise;
  }
}
