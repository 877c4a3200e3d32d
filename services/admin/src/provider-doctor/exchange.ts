import type { Provider } from '@echodrop/identity-provider/provider';
import type { ProviderConnections, ProviderResponse } from '@echodrop/identity-provider/provider-connections';

/** One question and its answer, or the error in the answer's place; times are in milliseconds of our clock since 1970. */
export type Exchange = Answered | Unanswered;

export interface Answered {
  readonly answer: ProviderResponse;
  readonly begun: number;
  readonly ended: number;
}

export interface Unanswered {
  readonly answer?: undefined;
  readonly error: unknown;
}

/** Asks one provider, each time once. */
export class Questions {
  readonly provider: Provider;
  readonly #connections: ProviderConnections;

  constructor(provider: Provider, connections: ProviderConnections) {
    this.provider = provider;
    this.#connections = connections;
  }

  /** As the auth-verifier asks: with the advertised Host. */
  ask(authorization?: string): Promise<Exchange> {
    return this.#exchange(this.provider, authorization);
  }

  /** The same question with the Host of the address that is really asked, and without credentials. */
  askByItsOwnHost(): Promise<Exchange> {
    return this.#exchange({ ...this.provider, advertised: this.provider.upstream });
  }

  async #exchange(provider: Provider, authorization?: string): Promise<Exchange> {
    const begun = Date.now();
    try {
      const answer = await this.#connections.ask(provider, authorization);
      return { answer, begun, ended: Date.now() };
    } catch (error) {
      return { error };
    }
  }
}
