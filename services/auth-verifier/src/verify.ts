import type { Credentials, ProviderUser, Verdict, VerificationRequest } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { signedGet } from '@echodrop/oauth/signed-get';
import type { VerifierEvents } from './events.ts';
import { findProvider } from './find-provider.ts';
import { isSchemeSupported, isSingleUse } from './proof.ts';
import { type IdentityProviders, type QueryResult, unavailable } from './provider/query-providers.ts';
import type { ProofKeys } from './verdicts/proof-keys.ts';
import type { Use, UseEnd, VerdictCache } from './verdicts/verdict-cache.ts';
import type { Decision } from './verdicts/verdict-codec.ts';

interface VerifierDeps {
  readonly known: readonly Provider[];
  readonly cache: VerdictCache;
  readonly providers: IdentityProviders;
  readonly events: VerifierEvents;
}

interface Shown extends VerificationRequest {
  readonly provider: Provider;
  readonly proofKeys: ProofKeys;
}

/** A running verification; until it is settled, this process starts no other for the same proof. */
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
  readonly #shared = new Map<string, Running>();
  readonly #settling = new Set<Promise<void>>();

  constructor(deps: VerifierDeps) {
    this.#deps = deps;
  }

  async verify(request: VerificationRequest): Promise<Verdict> {
    const { credentials } = request;
    const provider = findProvider(this.#deps.known, credentials);
    if (!provider) return { outcome: 'provider_unknown' };
    if (!isSchemeSupported(credentials, provider)) return this.#refuse(provider, 'unsupported_scheme');
    const proofKeys = this.#deps.cache.keysOf(request, provider);
    if (!proofKeys) return this.#refuse(provider, 'replay');
    const shown = { ...request, provider, proofKeys };
    return proofKeys.isShared ? this.#share(shown) : (await this.#run(shown).decided).verdict;
  }

  /** @throws what Redis throws; verdicts may then still be cached */
  async forget(user: ProviderUser): Promise<void> {
    await this.#deps.cache.forget(user);
    this.#deps.events.userForgotten(user);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#settling);
  }

  async #share(shown: Shown): Promise<Verdict> {
    const { proof } = shown.proofKeys;
    const running = this.#shared.get(proof);
    if (!running) {
      const begun = this.#run(shown);
      this.#shared.set(proof, begun);
      begun.settled.finally(() => this.#shared.delete(proof));
      return (await begun.decided).verdict;
    }
    if (!running.isDecided) {
      const decided = await running.decided;
      if (!(await this.#deps.cache.isVoid(decided).catch(() => false))) return decided.verdict;
    }
    // Later requests find the verdict in the cache.
    await running.settled;
    return this.#share(shown);
  }

  #run(shown: Shown): Running {
    const { promise, resolve, reject } = Promise.withResolvers<Decision>();
    const decide = (decided: Decision) => {
      running.isDecided = true;
      resolve(decided);
    };
    const running = { decided: promise, settled: this.#decide(shown, decide).catch(reject), isDecided: false };
    this.#settling.add(running.settled);
    running.settled.finally(() => this.#settling.delete(running.settled));
    return running;
  }

  // Only a verified caller does not wait for the cache: after other outcomes, another process must see the result.
  async #decide(shown: Shown, decide: (decided: Decision) => void): Promise<void> {
    const { credentials, provider, proofKeys } = shown;
    const { cache, events } = this.#deps;
    const found = await cache.find(proofKeys);
    if (found.state === 'replay') return decide({ verdict: this.#refuse(provider, 'replay'), since: 0 });
    if (found.state !== 'leased') {
      const decided = found.state === 'decided' ? found : { verdict: unavailable(), since: 0 };
      events.verificationCompleted(provider, decided.verdict, found.state === 'decided' ? 'cache' : found.state);
      if (decided.verdict.outcome === 'verified') decide(decided);
      await cache.settleUse(proofKeys, useEnd(decided.verdict, found.use));
      return decide(decided);
    }
    const { verdict: received, canHaveArrived } = await this.#query(shown);
    // The provider may have refused only because an earlier request used up the nonce.
    const isUnclear = received.outcome === 'refused' && found.isPending && isSingleUse(credentials, provider);
    const decided = { verdict: isUnclear ? unavailable() : received, since: found.since };
    if (decided.verdict.outcome === 'verified') decide(decided);
    const hasNoVerdict = ['provider_unavailable', 'overloaded'].includes(decided.verdict.outcome);
    // The outcome is unknown, and repeats do not share a verdict.
    const mayBeUsedUp = hasNoVerdict && canHaveArrived && !proofKeys.isShared;
    const end = mayBeUsedUp ? '' : useEnd(decided.verdict, found.use);
    await cache.settle(proofKeys, end, found, decided.verdict, hasNoVerdict && (canHaveArrived || found.isPending));
    decide(decided);
  }

  async #query({ credentials, clientAddress, provider }: Shown): Promise<QueryResult> {
    const authorization =
      credentials.version === 2 ? credentials.authorization : signRequest(provider.advertised, credentials);
    const result = await this.#deps.providers.query(provider, authorization, clientAddress);
    this.#deps.events.verificationCompleted(provider, result.verdict, result.source, result.seconds);
    return result;
  }

  #refuse(provider: Provider, source: 'unsupported_scheme' | 'replay'): Verdict {
    const verdict = { outcome: 'refused', cause: source } as const;
    this.#deps.events.verificationCompleted(provider, verdict, source);
    return verdict;
  }
}

function useEnd({ outcome }: Verdict, use: Use): UseEnd {
  if (outcome === 'verified') return 'confirm';
  return use === 'first' ? 'giveBack' : '';
}

// Version 1: signs the request for the provider's advertised address, as the client would.
function signRequest(address: string, secrets: Extract<Credentials, { version: 1 }>): string {
  const { consumerToken: consumerKey, consumerSecret, oauthToken: token, oauthSecret: tokenSecret } = secrets;
  return signedGet(address, { consumerKey, consumerSecret, token, tokenSecret });
}
