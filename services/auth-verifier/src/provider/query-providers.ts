import { hash } from 'node:crypto';
import type { Verdict } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { canHaveArrived, ProviderConnections } from '@echodrop/identity-provider/provider-connections';
import { findMissing, readCaller } from '@echodrop/identity-provider/read-caller';
import { networkOf } from '@echodrop/service/ip-address';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import type { Secret } from '@echodrop/service/secret';
import { inSpan } from '@echodrop/service/tracing/trace';
import { LRUCache } from 'lru-cache';
import type { NotQueried } from '../events.ts';
import { tokenIn } from '../proof.ts';
import {
  InvalidResponse,
  ProviderCircuitBreaker,
  type ProviderEvents,
  type Rejected,
  TooManyRequests,
} from './provider-circuit-breaker.ts';

const defaultRetryMs = 10_000;
const maxRetryMs = 60 * 60_000;
// LRUCache allocates all entries of `max` at once, and those of `maxSize` as they come.
const tokenLimit = { maxSize: 100_000, sizeCalculation: () => 1, ttlResolution: 0 };
const subjectMs = 60 * 60_000;

interface ProviderOptions {
  /** The longest time of a whole request. */
  readonly timeoutMs: number;
  /** The longest wait for a slot before a request. */
  readonly waitMs: number;
  readonly userIdSecret: Secret;
  readonly events: ProviderEvents;
}

export interface QueryResult {
  readonly verdict: Verdict;
  readonly source: 'provider' | NotQueried;
  /** Duration of the request; undefined if the provider was not queried. */
  readonly seconds?: number;
  /** Whether the provider may have received the request. */
  readonly canHaveArrived: boolean;
}

type Unavailable = Extract<Verdict, { outcome: 'provider_unavailable' }>;

/** The verdict if the provider gave none, with the time to wait before a retry. */
export function unavailable(afterMs = defaultRetryMs): Unavailable {
  return { outcome: 'provider_unavailable', retryAfterSeconds: Math.max(1, Math.ceil(afterMs / 1000)) };
}

/** Queries providers, except those with an open circuit, and tokens that a provider has rate-limited. */
export class IdentityProviders implements AsyncDisposable {
  readonly #options: ProviderOptions;
  readonly #connections: ProviderConnections;
  readonly #breakers = new Map<Provider, ProviderCircuitBreaker>();
  /** Tokens for which a provider responded with 429, for the time of its Retry-After. */
  readonly #rateLimited = new LRUCache<string, true>({ ...tokenLimit, perf: Date });
  /** Subjects of recently verified tokens. */
  readonly #subjects = new LRUCache<string, string>({ ...tokenLimit, perf: Date, ttl: subjectMs });

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#connections = new ProviderConnections(options.timeoutMs);
  }

  /**
   * Queries `provider` at most once. 200 with id and name is `verified`, 401 and 403 are `refused`, all else is
   * `provider_unavailable` (table in provider-behaviour.integration.test.ts).
   */
  async query(provider: Provider, authorization: string, clientAddress: string): Promise<QueryResult> {
    const token = digestOf(provider, tokenIn(authorization));
    const retryMs = this.#rateLimited.getRemainingTTL(token);
    if (retryMs > 0) return notQueried({ cause: 'token_rate_limited', retryMs });
    const started = performance.now();
    const result = (verdict: Verdict, canHaveArrived: boolean): QueryResult => {
      return { verdict, source: 'provider', seconds: (performance.now() - started) / 1000, canHaveArrived };
    };
    try {
      const sender = this.#senderOf(token, clientAddress);
      // The provider gets no trace headers.
      const exchange = () =>
        inSpan('query provider', 'client', { 'echodrop.provider': provider.advertised }, () =>
          this.#exchange(provider, authorization, token),
        );
      const found = await this.#breakerOf(provider).execute(sender, this.#subjects.has(token), exchange);
      return 'retryMs' in found ? notQueried(found) : result(found, true);
    } catch (error) {
      this.#options.events.providerFailed(provider, error);
      if (!(error instanceof TooManyRequests)) return result(unavailable(), canHaveArrived(error));
      this.#rateLimited.set(token, true, { ttl: error.retryMs });
      return result(unavailable(error.retryMs), true);
    }
  }

  /** Registers the circuit state of each provider, read at each scrape: without requests, no event reports that a circuit may close. */
  registerCircuitMetrics(metrics: Metrics, providers: readonly Provider[]): void {
    const name = 'echodrop_provider_circuit_open';
    const help =
      '1 while requests to the identity provider are suspended because it keeps failing (circuit open), 0 otherwise.';
    metrics.gaugesOnScrape({ [name]: help }, 'provider', async () =>
      providers.map((provider) => ({
        label: provider.advertised,
        values: { [name]: this.#breakers.get(provider)?.isOpen ? 1 : 0 },
      })),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }

  // Tokens can be made up: only recently verified users count as senders, others by their network.
  #senderOf(token: string, clientAddress: string): string {
    const subject = this.#subjects.get(token);
    return JSON.stringify(subject === undefined ? ['network', networkOf(clientAddress)] : ['user', subject]);
  }

  async #exchange(provider: Provider, authorization: string, token: string): Promise<Verdict> {
    const { status, headers, body } = await this.#connections.query(provider, authorization);
    if (status === 401 || status === 403) return { outcome: 'refused' };
    if (status === 429) {
      const ms = retryAfterMs(headers['retry-after']) ?? defaultRetryMs;
      throw new TooManyRequests(Math.min(Math.max(ms, 1000), maxRetryMs), !this.#subjects.has(token));
    }
    if (status >= 500) throw new Error(`provider responded with ${status}`);
    if (status !== 200) throw new InvalidResponse(`provider responded with ${status}`);
    const caller = readCaller(body, provider, this.#options.userIdSecret);
    if (!caller) throw new InvalidResponse(`provider responded with 200, but without ${findMissing(body, provider)}`);
    this.#subjects.set(token, caller.subject);
    return { outcome: 'verified', caller };
  }

  #breakerOf(provider: Provider): ProviderCircuitBreaker {
    const breaker =
      this.#breakers.get(provider) ?? new ProviderCircuitBreaker(provider, this.#options.waitMs, this.#options.events);
    this.#breakers.set(provider, breaker);
    return breaker;
  }
}

function notQueried({ cause: source, retryMs, isOwnShare }: Rejected): QueryResult {
  const verdict = unavailable(retryMs);
  return {
    verdict: source === 'busy' ? { ...verdict, outcome: 'overloaded', isOwnShare } : verdict,
    source,
    canHaveArrived: false,
  };
}

/** Milliseconds from a Retry-After header (RFC 9110 section 10.2.3: seconds or a date); undefined if it is missing or invalid. */
export function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const isDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header);
  const at = isDate ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

// Identifies a token at a provider. A 429 is often about one user, who must not block all others.
function digestOf({ advertised }: Provider, token: string): string {
  return hash('sha256', JSON.stringify([advertised, token]), 'base64');
}
