import type { Credentials, ProviderUser, Question, Verdict } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { signedGet } from '@echodrop/oauth/signed-get';
import type { VerifierEvents } from './events.ts';
import { type IdentityProviders, unavailable } from './identity-provider.ts';
import type { KnownProviders } from './known-providers.ts';
import type { ProofUses } from './proof-uses.ts';
import type { Proof, VerdictCache } from './verdict-cache.ts';

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
  readonly #asked = new Map<string, Promise<Verdict>>();

  constructor(parts: VerifierParts) {
    this.#parts = parts;
  }

  async verify({ credentials, clientAddress }: Question): Promise<Verdict> {
    const { known, uses, events } = this.#parts;
    const provider = credentials.version === 2 ? known.find(credentials.provider) : known.firstSigned;
    if (!provider) return { outcome: 'provider_unknown' };
    const refused = (source: 'scheme' | 'replay'): Verdict => {
      events.answered(provider, { outcome: 'refused' }, source);
      return { outcome: 'refused' };
    };
    if (!isSpoken(credentials, provider)) return refused('scheme');
    const proof: Proof = [provider.advertised, JSON.stringify(Object.entries(credentials).sort())];
    const use = isGoodOnce(credentials, provider) ? await uses.use(proof, clientAddress) : undefined;
    if (use === 'replay') return refused('replay');
    const shared = uses.sharedBy(proof, clientAddress);
    const verdict = await (shared ? this.#once(shared, credentials, provider) : this.#ask(credentials, provider));
    if (use === 'first' && verdict.outcome === 'provider_unavailable') await uses.giveBack(proof);
    return verdict;
  }

  /** @throws what Redis throws: then a verdict may still be remembered */
  async forget(user: ProviderUser): Promise<void> {
    await this.#parts.cache.forget(user);
    this.#parts.events.forgotten(user);
  }

  #once(proof: Proof, credentials: Credentials, provider: Provider): Promise<Verdict> {
    const name = JSON.stringify(proof);
    const asked = this.#asked.get(name);
    if (asked) return asked;
    const asking = this.#remembered(proof, credentials, provider).finally(() => this.#asked.delete(name));
    this.#asked.set(name, asking);
    return asking;
  }

  async #remembered(proof: Proof, credentials: Credentials, provider: Provider): Promise<Verdict> {
    const found = await this.#parts.cache.find(proof);
    if (found.state !== 'leased') {
      const verdict = found.state === 'decided' ? found.verdict : unavailable();
      this.#parts.events.answered(provider, verdict, 'cache');
      return verdict;
    }
    const askedAt = Date.now();
    const verdict = await this.#ask(credentials, provider);
    await this.#parts.cache.remember(proof, verdict, askedAt);
    return verdict;
  }

  async #ask(credentials: Credentials, provider: Provider): Promise<Verdict> {
    const authorization =
      credentials.version === 2 ? credentials.authorization : signed(provider.advertised, credentials);
    const { verdict, seconds } = await this.#parts.providers.ask(provider, authorization);
    this.#parts.events.answered(provider, verdict, seconds === undefined ? 'left_alone' : 'provider', seconds);
    return verdict;
  }
}

// A scheme that the provider's profile does not know proves nothing to it.
function isSpoken(credentials: Credentials, { profile }: Provider): boolean {
  if (credentials.version === 1) return profile.signsRequests;
  const scheme = credentials.authorization.split(/[ \t]/, 1)[0]?.toLowerCase();
  return profile.schemes.some((known) => known.toLowerCase() === scheme);
}

// A header that was signed has a nonce. Secrets and bearer tokens are for every use: nobody can tell whose it is.
function isGoodOnce({ version }: Credentials, { profile }: Provider): boolean {
  return version === 2 && profile.signsRequests;
}

// Version 1: the request that the client would have signed, for the address that the provider advertises.
function signed(address: string, secrets: Extract<Credentials, { version: 1 }>): string {
  const { consumerToken: consumerKey, consumerSecret, oauthToken: token, oauthSecret: tokenSecret } = secrets;
  return signedGet(address, { consumerKey, consumerSecret, token, tokenSecret });
}
