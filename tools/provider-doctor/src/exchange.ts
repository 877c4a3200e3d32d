import type { Provider } from '@echodrop/identity-provider/provider';
import type { ProviderConnections, ProviderResponse } from '@echodrop/identity-provider/provider-connections';
import { explainFailure, type Failure } from './explain-failure.ts';

/** One request to a provider. */
export type Attempt = Completed | { readonly response?: undefined; readonly failure: Failure };

/** `begun` and `ended` are in milliseconds since 1970, by our clock. */
export interface Completed {
  readonly response: ProviderResponse;
  readonly begun: number;
  readonly ended: number;
}

export type Queries = ReturnType<typeof queriesTo>;

/** Queries one provider, without retries. `timeoutMs` is the limit of `connections`. */
export function queriesTo(provider: Provider, connections: ProviderConnections, timeoutMs: number) {
  const attempt = async (target: Provider, authorization?: string): Promise<Attempt> => {
    const begun = Date.now();
    try {
      const response = await connections.query(target, authorization);
      return { response, begun, ended: Date.now() };
    } catch (error) {
      return { failure: explainFailure(error, provider.upstream, timeoutMs) };
    }
  };
  return {
    provider,
    /** Sends the query of the auth-verifier, with the advertised Host. */
    send: (authorization?: string) => attempt(provider, authorization),
    /** Sends the same query with the Host of the upstream address, without credentials. */
    sendByOwnHost: () => attempt({ ...provider, advertised: provider.upstream }),
  };
}
