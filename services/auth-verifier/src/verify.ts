import type { Credentials, ProviderUser, Question, Verdict } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { signedGet } from '@echodrop/oauth/signed-get';
import type { VerifierEvents } from './events.ts';
import { type Asked, type IdentityProviders, unavailable } from './identity-provider.ts';
import type { KnownProviders } from './known-providers.ts';
import { isGoodOnce, isSpoken, type Proof, proofOf, signedOnce } from './proof.ts';
import type { ProofUses } from './proof-uses.ts';
import type { Decided, VerdictCache } from './verdict-cache.ts';

export interface VerifierParts {
  readonly known: KnownProviders;
  readonly uses: ProofUses;
  readonly cache: VerdictCache;
  readonly providers: IdentityProviders;
  readonly events: VerifierEvents;
}

/** Says who a caller is: known provider, a proof that may be used, cached verdict, else ask and remember. One question at a time for the same proof. */
export class Verifier {
  readonly #parts: VerifierParts;
  readonly #asked = new Map<string, Promise<Decided>>();

  constructor(parts: VerifierParts) {
    this.#parts = parts;
  }

  async verify({ credentials, clientAddress }: Question): Promise<Verdict> {
    const { known, uses } = this.#parts;
    const provider = credentials.version === 2 ? known.find(credentials.provider) : known.firstSigned;
    if (!provider) return { outcome: 'provider_unknown' };
    if (!isSpoken(credentials, provider)) return this.#refused(provider, 'scheme');
    const once = isGoodOnce(credentials, provider) && { signed: signedOnce(credentials, provider) };
    const use = once && (await uses.use(once.signed, clientAddress));
    if (use === 'replay') return this.#refused(provider, 'replay');
    const shared = uses.sharedBy(proofOf(credentials, provider), clientAddress);
    const { verdict, wasSent } = shared
      ? { verdict: await this.#shared(shared, credentials, provider), wasSent: false }
      : await this.#ask(credentials, provider);
    const mayBeUsedUp = wasSent && verdict.outcome === 'provider_unavailable';
    if (once && verdict.outcome === 'verified') await uses.confirm(once.signed, clientAddress);
    else if (once && use === 'first' && !mayBeUsedUp) await uses.giveBack(once.signed, clientAddress);
    return verdict;
  }

  /** @throws what Redis throws: then a verdict may still be remembered */
  async forget(user: ProviderUser): Promise<void> {
    await this.#parts.cache.forget(user);
    this.#parts.events.forgotten(user);
  }

  async #shared(proof: Proof, credentials: Credentials, provider: Provider): Promise<Verdict> {
    const name = JSON.stringify(proof);
    const running = this.#asked.get(name);
    if (running) {
      const decided = await running;
      const isVoid = await this.#parts.cache.isVoid(decided).catch(() => false);
      return isVoid ? this.#shared(proof, credentials, provider) : decided.verdict;
    }
    const asking = this.#remembered(proof, credentials, provider).finally(() => this.#asked.delete(name));
    this.#asked.set(name, asking);
    return (await asking).verdict;
  }

  async #remembered(proof: Proof, credentials: Credentials, provider: Provider): Promise<Decided> {
    const found = await this.#parts.cache.find(proof);
    if (found.state !== 'leased') {
      const decided = found.state === 'decided' ? found : { verdict: unavailable(), since: 0 };
      this.#parts.events.answered(provider, decided.verdict, 'cache');
      return decided;
    }
    const { verdict, wasSent } = await this.#ask(credentials, provider);
    // A nonce that an earlier question has used up is refused, whoever signed it.
    const isUnclear = verdict.outcome === 'refused' && found.unanswered && isGoodOnce(credentials, provider);
    const decided = { verdict: isUnclear ? unavailable() : verdict, since: found.since };
    const isOpen = decided.verdict.outcome === 'provider_unavailable';
    await this.#parts.cache.remember(proof, decided, isOpen && (wasSent || found.unanswered));
    return decided;
  }

  async #ask(credentials: Credentials, provider: Provider): Promise<Asked> {
    const authorization =
      credentials.version === 2 ? credentials.authorization : signed(provider.advertised, credentials);
    const asked = await this.#parts.providers.ask(provider, authorization);
    const source = asked.seconds === undefined ? 'left_alone' : 'provider';
    this.#parts.events.answered(provider, asked.verdict, source, asked.seconds);
    return asked;
  }

  #refused(provider: Provider, source: 'scheme' | 'replay'): Verdict {
    this.#parts.events.answered(provider, { outcome: 'refused' }, source);
    return { outcome: 'refused' };
  }
}

// Version 1: the request that the client would have signed, for the address that the provider advertises.
function signed(address: string, secrets: Extract<Credentials, { version: 1 }>): string {
  const { consumerToken: consumerKey, consumerSecret, oauthToken: token, oauthSecret: tokenSecret } = secrets;
  return signedGet(address, { consumerKey, consumerSecret, token, tokenSecret });
}
