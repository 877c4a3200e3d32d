import type { Credentials, Verdict } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { signedGet } from '@echodrop/oauth/signed-get';
import type { VerifierEvents } from './events.ts';
import type { IdentityProviders } from './identity-provider.ts';
import type { KnownProviders } from './known-providers.ts';
import type { VerdictCache } from './verdict-cache.ts';

/** Says who a caller is: known provider, cached verdict, else ask and remember. One question at a time for the same credentials. */
export class Verifier {
  readonly #known: KnownProviders;
  readonly #cache: VerdictCache;
  readonly #providers: IdentityProviders;
  readonly #events: VerifierEvents;
  readonly #asked = new Map<string, Promise<Verdict>>();

  constructor(known: KnownProviders, cache: VerdictCache, providers: IdentityProviders, events: VerifierEvents) {
    this.#known = known;
    this.#cache = cache;
    this.#providers = providers;
    this.#events = events;
  }

  async verify(credentials: Credentials): Promise<Verdict> {
    const provider = credentials.version === 2 ? this.#known.find(credentials.provider) : this.#known.firstSigned;
    if (!provider) return { outcome: 'provider_unknown' };
    if (!isSpoken(credentials, provider)) return { outcome: 'refused' };
    const key = this.#cache.keyOf(credentials, provider.advertised);
    const asked = this.#asked.get(key) ?? this.#remembered(key, credentials, provider);
    this.#asked.set(key, asked);
    return asked.finally(() => this.#asked.delete(key));
  }

  async #remembered(key: string, credentials: Credentials, provider: Provider): Promise<Verdict> {
    const kept = await this.#cache.find(key);
    if (kept) {
      this.#events.answered(kept.outcome, 'cache');
      return kept;
    }
    const verdict = await this.#ask(credentials, provider);
    await this.#cache.remember(key, verdict);
    return verdict;
  }

  async #ask(credentials: Credentials, provider: Provider): Promise<Verdict> {
    const started = performance.now();
    const verdict = await this.#providers.ask(
      provider,
      credentials.version === 2 ? credentials.authorization : signed(provider.advertised, credentials),
    );
    this.#events.answered(verdict.outcome, 'provider', (performance.now() - started) / 1000);
    return verdict;
  }
}

// A scheme that the provider's profile does not know proves nothing to it.
function isSpoken(credentials: Credentials, { profile }: Provider): boolean {
  if (credentials.version === 1) return profile.signsRequests;
  const scheme = credentials.authorization.split(/[ \t]/, 1)[0]?.toLowerCase();
  return profile.schemes.some((known) => known.toLowerCase() === scheme);
}

// Version 1: the request that the client would have signed, for the address that the provider advertises.
function signed(address: string, secrets: Extract<Credentials, { version: 1 }>): string {
  const { consumerToken: consumerKey, consumerSecret, oauthToken: token, oauthSecret: tokenSecret } = secrets;
  return signedGet(address, { consumerKey, consumerSecret, token, tokenSecret });
}
