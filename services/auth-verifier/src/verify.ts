import type { Credentials, ProviderUser, Verdict, VerificationRequest } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { signedGet } from '@echodrop/oauth/signed-get';
import type { VerifierEvents } from './events.ts';
import { isGoodOnce, isSpoken } from './proof.ts';
import { type Asked, type IdentityProviders, unavailable } from './provider/identity-provider.ts';
import type { KnownProviders } from './provider/known-providers.ts';
import type { Claim, Claims } from './verdicts/claims.ts';
import type { Decided } from './verdicts/kept-verdict.ts';
import type { Use, UseEnd, VerdictCache } from './verdicts/verdict-cache.ts';

export interface VerifierParts {
  readonly known: KnownProviders;
  readonly claims: Claims;
  readonly cache: VerdictCache;
  readonly providers: IdentityProviders;
  readonly events: VerifierEvents;
}

interface Shown {
  readonly clientAddress: string;
  readonly credentials: Credentials;
  readonly provider: Provider;
  readonly claim: Claim;
}

/** A question that runs: until it is settled nobody else in this process asks it. */
interface Running {
  readonly decided: Promise<Decided>;
  readonly settled: Promise<void>;
  isDecided: boolean;
}

/**
 * Says who a caller is: known provider, a proof that may be used, cached verdict, else ask and remember. One question at a time for the
 * same proof. Disposing waits for what is still being remembered.
 */
export class Verifier implements AsyncDisposable {
  readonly #parts: VerifierParts;
  readonly #shared = new Map<string, Running>();
  readonly #settling = new Set<Promise<void>>();

  constructor(parts: VerifierParts) {
    this.#parts = parts;
  }

  async verify({ credentials, clientAddress }: VerificationRequest): Promise<Verdict> {
    const { known, claims } = this.#parts;
    const provider = credentials.version === 2 ? known.find(credentials.provider) : known.firstSigned;
    if (!provider) return { outcome: 'provider_unknown' };
    if (!isSpoken(credentials, provider)) return this.#refused(provider, 'scheme');
    const claim = claims.of(credentials, provider, clientAddress);
    if (!claim) return this.#refused(provider, 'replay');
    const shown = { credentials, clientAddress, provider, claim };
    return claim.isShared ? this.#share(shown) : (await this.#run(shown).decided).verdict;
  }

  /** @throws what Redis throws: then a verdict may still be remembered */
  async forget(user: ProviderUser): Promise<void> {
    await this.#parts.cache.forget(user);
    this.#parts.events.forgotten(user);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#settling);
  }

  async #share(shown: Shown): Promise<Verdict> {
    const { proof } = shown.claim;
    const running = this.#shared.get(proof);
    if (!running) {
      const begun = this.#run(shown);
      this.#shared.set(proof, begun);
      begun.settled.finally(() => this.#shared.delete(proof));
      return (await begun.decided).verdict;
    }
    if (!running.isDecided) {
      const decided = await running.decided;
      if (!(await this.#parts.cache.isVoid(decided).catch(() => false))) return decided.verdict;
    }
    // Whoever comes after the verdict finds it in the cache, as in any other process.
    await running.settled;
    return this.#share(shown);
  }

  #run(shown: Shown): Running {
    const { promise, resolve, reject } = Promise.withResolvers<Decided>();
    const tell = (decided: Decided) => {
      running.isDecided = true;
      resolve(decided);
    };
    const running = { decided: promise, settled: this.#decide(shown, tell).catch(reject), isDecided: false };
    this.#settling.add(running.settled);
    running.settled.finally(() => this.#settling.delete(running.settled));
    return running;
  }

  // Only who is verified does not wait for the cache: whoever asks another process next must find there what became of any other question.
  async #decide(shown: Shown, tell: (decided: Decided) => void): Promise<void> {
    const { credentials, provider, claim } = shown;
    const { cache, events } = this.#parts;
    const found = await cache.find(claim);
    if (found.state === 'replay') return tell({ verdict: this.#refused(provider, 'replay'), since: 0 });
    if (found.state !== 'leased') {
      const decided = found.state === 'decided' ? found : { verdict: unavailable(), since: 0 };
      events.answered(provider, decided.verdict, 'cache');
      if (decided.verdict.outcome === 'verified') tell(decided);
      await cache.settleUse(claim, useEnd(decided.verdict, found.use));
      return tell(decided);
    }
    const { verdict: said, wasSent } = await this.#ask(shown);
    // A nonce that an earlier question has used up is refused, whoever signed it.
    const isUnclear = said.outcome === 'refused' && found.unanswered && isGoodOnce(credentials, provider);
    const decided = { verdict: isUnclear ? unavailable() : said, since: found.since };
    if (decided.verdict.outcome === 'verified') tell(decided);
    const isOpen = decided.verdict.outcome === 'provider_unavailable';
    // Nobody is told what came of it, and whoever shows it again is asked about alone.
    const mayBeUsedUp = isOpen && wasSent && !claim.isShared;
    const end = mayBeUsedUp ? '' : useEnd(decided.verdict, found.use);
    await cache.settle(claim, end, found, decided.verdict, isOpen && (wasSent || found.unanswered));
    tell(decided);
  }

  async #ask({ credentials, clientAddress, provider }: Shown): Promise<Asked> {
    const authorization =
      credentials.version === 2 ? credentials.authorization : signed(provider.advertised, credentials);
    const asked = await this.#parts.providers.ask(provider, authorization, clientAddress);
    const source = asked.seconds === undefined ? 'circuit_open' : 'provider';
    this.#parts.events.answered(provider, asked.verdict, source, asked.seconds);
    return asked;
  }

  #refused(provider: Provider, source: 'scheme' | 'replay'): Verdict {
    this.#parts.events.answered(provider, { outcome: 'refused' }, source);
    return { outcome: 'refused' };
  }
}

function useEnd({ outcome }: Verdict, use: Use): UseEnd {
  if (outcome === 'verified') return 'confirm';
  return use === 'first' ? 'giveBack' : '';
}

// Version 1: the request that the client would have signed, for the address that the provider advertises.
function signed(address: string, secrets: Extract<Credentials, { version: 1 }>): string {
  const { consumerToken: consumerKey, consumerSecret, oauthToken: token, oauthSecret: tokenSecret } = secrets;
  return signedGet(address, { consumerKey, consumerSecret, token, tokenSecret });
}
