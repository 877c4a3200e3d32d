import type { Provider } from '@echodrop/identity-provider/provider';

/** The configured providers. Addresses match only as identical strings, not if they parse equally (docs/dependencies.md, "HTTP on Node"). */
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

  /** The provider of version 1: the first with OAuth 1.0a. */
  get firstSigned(): Provider | undefined {
    return this.#providers.find(({ profile }) => profile.signsRequests);
  }
}
