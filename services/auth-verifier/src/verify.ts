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
    const { known, uses } = this.#parts;
    const provider = credentials.version === 2 ? known.find(credentials.provider) : known.firstSigned;
    if (!provider) return { outcome: 'provider_unknown' };
    if (!isSpoken(credentials, provider)) return { outcome: 'refused' };
    const proof: Proof = [provider.advertised, JSON.stringify(Object.entries(credentials).sort())];
    const use = isGoodOnce(credentials, provider) ? await uses.use(proof, clientAddress) : undefined;
    if (use === 'replay') return this.#replayed();
    const ask = () => this.#ask(credentials, provider);
    const shared = uses.sharedBy(proof, clientAddress);
    const verdict = shared ? await this.#once(shared, ask) : await ask();
    if (use === 'first' && verdict.outcome === 'provider_unavailable') await uses.giveBack(proof);
    return verdict;
  }

  /** @throws what Redis throws: then a verdict may still be remembered */
  async forget(user: ProviderUser): Promise<void> {
    await this.#parts.cache.forget(user);
    this.#parts.events.forgotten(user);
  }

  #once(proof: Proof, ask: () => Promise<Verdict>): Promise<Verdict> {
    const name = JSON.stringify(proof);
    const asked = this.#asked.get(name);
    if (asked) return asked;
    const asking = this.#remembered(proof, ask).finally(() => this.#asked.delete(name));
    this.#asked.set(name, asking);
    return asking;
  }

  async #remembered(proof: Proof, ask: () => Promise<Verdict>): Promise<Verdict> {
    const found = await this.#parts.cache.find(proof);
    if (found.state !== 'leased') {
      const verdict = found.state === 'decided' ? found.verdict : unavailable();
      this.#parts.events.answered(verdict.outcome, 'cache');
      return verdict;
    }
    const askedAt = Date.now();
    const verdict = await ask();
    await this.#parts.cache.remember(proof, verdict, askedAt);
    return verdict;
  }

  async #ask(credentials: Credentials, provider: Provider): Promise<Verdict> {
    const started = performance.now();
    const verdict = await this.#parts.providers.ask(
      provider,
      credentials.version === 2 ? credentials.authorization : signed(provider.advertised, credentials),
    );
    this.#parts.events.answered(verdict.outcome, 'provider', (performance.now() - started) / 1000);
    return verdict;
  }

  #replayed(): Verdict {
    this.#parts.events.answered('refused', 'replay');
    return { outcome: 'refused' };
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
