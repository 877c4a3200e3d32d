import type { Provider } from '@echodrop/identity-provider/provider';
import type { ProviderConnections, ProviderResponse } from '@echodrop/identity-provider/provider-connections';

/** One request to a provider, and its response or error. */
export type Attempt = Completed | Failed;

/** `begun` and `ended` are in milliseconds since 1970, by our clock. */
export interface Completed {
  readonly response: ProviderResponse;
  readonly begun: number;
  readonly ended: number;
}

interface Failed {
  readonly response?: undefined;
  readonly error: unknown;
}

/** Queries one provider, without retries. */
export class Queries {
  readonly provider: Provider;
  readonly #connections: ProviderConnections;

  constructor(provider: Provider, connections: ProviderConnections) {
    this.provider = provider;
    this.#connections = connections;
  }

  /** Sends the query of the auth-verifier, with the advertised Host. */
  send(authorization?: string): Promise<Attempt> {
    return this.#attempt(this.provider, authorization);
  }

  /** Sends the same query with the Host of the upstream address, without credentials. */
  sendByOwnHost(): Promise<Attempt> {
    return this.#attempt({ ...this.provider, advertised: this.provider.upstream });
  }

  async #attempt(provider: Provider, authorization?: string): Promise<Attempt> {
    const begun = Date.now();
    try {
      const response = await this.#connections.query(provider, authorization);
      return { response, begun, ended: Date.now() };
    } catch (error) {
      return { error };
    }
  }
}
