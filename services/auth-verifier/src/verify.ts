import type { Credentials, ProviderUser, Verdict, VerificationRequest } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { signedGet } from '@echodrop/oauth/signed-get';
import type { VerifierEvents } from './events.ts';
import { findProvider, isSchemeSupported, isSingleUse } from './proof.ts';
import { type IdentityProviders, type QueryResult, unavailable } from './provider/query-providers.ts';
import type { CacheKeys, ProofKeys } from './verdicts/cache-keys.ts';
import type { VerdictCache } from './verdicts/verdict-cache.ts';
import type { Decision } from './verdicts/verdict-codec.ts';

interface VerifierDeps {
  readonly providers: readonly Provider[];
  readonly keys: CacheKeys;
  readonly cache: VerdictCache;
  readonly identityProviders: IdentityProviders;
  readonly events: VerifierEvents;
}

interface KeyedRequest extends VerificationRequest {
  readonly provider: Provider;
  readonly keys: ProofKeys;
}

/** A running verification. Until it is settled, this process starts no other for the same proof. */
interface Running {
  readonly decided: Promise<Decision>;
  readonly settled: Promise<void>;
  isDecided: boolean;
}

/**
 * Verifies callers: checks provider and proof, then uses a cached verdict, or queries the provider and caches the result. One request at a time
 * per proof. Disposing waits for pending cache writes.
 */
export class Verifier implements AsyncDisposable {
  readonly #deps: VerifierDeps;
  /** Running verifications by the hashes of their proofs. */
  readonly #running = new Map<string, Running>();

  constructor(deps: VerifierDeps) {
    this.#deps = deps;
  }

  async verify(request: VerificationRequest): Promise<Verdict> {
    const { credentials } = request;
    const provider = findProvider(this.#deps.providers, credentials);
    if (!provider) return { outcome: 'provider_unknown' };
    if (!isSchemeSupported(credentials, provider)) {
      const verdict = { outcome: 'refused', cause: 'unsupported_scheme' } as const;
      this.#deps.events.verificationCompleted(provider, verdict, 'unsupported_scheme');
      return verdict;
    }
    return this.#share({ ...request, provider, keys: this.#deps.keys.ofProof(credentials, provider) });
  }

  /** Voids all cached verdicts on a user. @throws what Redis throws: verdicts may then still be cached */
  async forget(user: ProviderUser): Promise<void> {
    await this.#deps.cache.forget(user);
    this.#deps.events.userForgotten(user);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.values().map(({ settled }) => settled));
  }

  async #share(request: KeyedRequest): Promise<Verdict> {
    const running = this.#running.get(request.keys.proofHash);
    if (!running) return (await this.#start(request).decided).verdict;
    if (!running.isDecided) {
      const decision = await running.decided;
      if (!(await this.#deps.cache.isVoid(decision).catch(() => false))) return decision.verdict;
    }
    // Later requests find the verdict in the cache.
    await running.settled;
    return this.#share(request);
  }

  #start(request: KeyedRequest): Running {
    const { promise: decided, resolve, reject } = Promise.withResolvers<Decision>();
    const decide = (decision: Decision) => {
      running.isDecided = true;
      resolve(decision);
    };
    const { proofHash } = request.keys;
    const settled = this.#decide(request, decide)
      .catch(reject)
      .finally(() => this.#running.delete(proofHash));
    const running = { decided, settled, isDecided: false };
    this.#running.set(proofHash, running);
    return running;
  }

  /** Calls `decide` once. Only a verified caller does not wait for the cache: after other outcomes, another process must see the result. */
  async #decide(request: KeyedRequest, decide: (decision: Decision) => void): Promise<void> {
    const { credentials, provider, keys } = request;
    const { cache, events } = this.#deps;
    const found = await cache.find(keys);
    if (found.state === 'decided') {
      events.verificationCompleted(provider, found.decision.verdict, 'cache');
      return decide(found.decision);
    }
    if (found.state === 'undecided') {
      const verdict = unavailable();
      events.verificationCompleted(provider, verdict, 'undecided');
      return decide({ verdict, since: 0 });
    }
    const { verdict: received, canHaveArrived } = await this.#query(request);
    // The provider may have refused only because an earlier query used up the nonce.
    const isUnclear = received.outcome === 'refused' && found.isPending && isSingleUse(credentials, provider);
    const decision = { verdict: isUnclear ? unavailable() : received, since: found.since };
    const { outcome } = decision.verdict;
    if (outcome === 'verified') decide(decision);
    const hasNoOutcome = outcome === 'provider_unavailable' || outcome === 'overloaded';
    await cache.settle(keys, decision, hasNoOutcome && (canHaveArrived || found.isPending));
    decide(decision);
  }

  async #query({ credentials, clientAddress, provider }: KeyedRequest): Promise<QueryResult> {
    const authorization =
      credentials.version === 2 ? credentials.authorization : signRequest(provider.advertised, credentials);
    const result = await this.#deps.identityProviders.query(provider, authorization, clientAddress);
    this.#deps.events.verificationCompleted(provider, result.verdict, result.source, result.seconds);
    return result;
  }
}

// Version 1: signs the request for the provider's advertised address, as the client would.
function signRequest(address: string, secrets: Extract<Credentials, { version: 1 }>): string {
  const { consumerToken: consumerKey, consumerSecret, oauthToken: token, oauthSecret: tokenSecret } = secrets;
  return signedGet(address, { consumerKey, consumerSecret, token, tokenSecret });
}
