import type { Provider } from '@echodrop/identity-provider/provider';

/** The configured list. Addresses are compared as raw strings: what parses to the same address is not the same (docs/dependencies.md, "HTTP on Node"). */
export class KnownProviders {
  readonly #providers: readonly Provider[];

  constructor(providers: readonly Provider[]) {
    this.#providers = providers;
  }

  get advertised(): readonly string[] {
    return this.#providers.map(({ advertised }) => advertised);
  }

  [Symbol.iterator](): Iterator<Provider> {
    return this.#providers[Symbol.iterator]();
  }

  find(address: string): Provider | undefined {
    return this.#providers.find(({ advertised }) => advertised === address);
  }

  /** The one that version 1 is for: the first that speaks OAuth 1.0a. */
  get firstSigned(): Provider | undefined {
    return this.#providers.find(({ profile }) => profile.signsRequests);
  }
}
