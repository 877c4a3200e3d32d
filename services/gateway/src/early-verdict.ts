import type { Verdict } from '@echodrop/contracts/verification';
import type { VerificationClient } from '@echodrop/contracts/verification-client';
import { credentialsFromFields } from './credentials.ts';
import type { FieldName } from './part-headers.ts';
import { Refusal } from './refusals.ts';

/** Version 1's verification: it starts when the four secrets have been read, while the form is still coming. */
export class EarlyVerdict {
  readonly #verifier: VerificationClient;
  readonly #clientAddress: string;
  readonly #gone: AbortSignal;
  #verdict: Promise<Verdict> | undefined;

  constructor(verifier: VerificationClient, clientAddress: string, gone: AbortSignal) {
    this.#verifier = verifier;
    this.#clientAddress = clientAddress;
    this.#gone = gone;
  }

  /** Asks as soon as `fields` hold the credentials, and only once. */
  readonly fieldRead = (fields: ReadonlyMap<FieldName, string>): void => {
    const credentials = credentialsFromFields(fields);
    if (this.#verdict || !credentials) return;
    this.#verdict = this.#verifier.verify({ credentials, clientAddress: this.#clientAddress }, this.#gone);
    // A failure is told in its turn, by whoever awaits the verdict.
    this.#verdict.catch(() => {});
  };

  /** The verdict that is on its way. @throws Refusal `credentials_missing` when it was never asked for */
  get verdict(): Promise<Verdict> {
    if (!this.#verdict) throw new Refusal('credentials_missing');
    return this.#verdict;
  }
}
