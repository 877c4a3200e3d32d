import { hash } from 'node:crypto';
import type { Verdict } from '@echodrop/contracts/verification';
import { missingIn, readCaller } from '@echodrop/identity-provider/caller-in-answer';
import type { Provider } from '@echodrop/identity-provider/provider';
import { ProviderConnections, wasSent } from '@echodrop/identity-provider/provider-connections';
import { networkOf } from '@echodrop/service/network-of';
import type { Secret } from '@echodrop/service/secret';
import { inSpan } from '@echodrop/service/tracing/trace';
import { LRUCache } from 'lru-cache';
import { tokenIn } from '../proof.ts';
import { NoVerdict, TooManyQuestions } from './provider-failures.ts';
import { ProviderGate } from './provider-gate.ts';
import { retryAfterMs } from './retry-after.ts';

const restMs = 10_000;
const longestRestMs = 60 * 60_000;
const rememberedTokens = 100_000;
const knownMs = 60 * 60_000;

interface Asking {
  /** For the whole exchange. */
  readonly timeoutMs: number;
  readonly userIdSecret: Secret;
  readonly told: ProviderNews;
}

interface ProviderNews {
  /** Why a provider could not say. */
  providerFailed(provider: Provider, error: unknown): void;
  /** Nobody is sent to a provider for so many milliseconds. */
  circuitOpened(provider: Provider, ms: number): void;
  circuitClosed(provider: Provider): void;
}

/** What became of a question. */
export interface Asked {
  readonly verdict: Verdict;
  /** How long the provider took; undefined where it was left alone. */
  readonly seconds?: number;
  /** Whether the provider may have seen it. */
  readonly wasSent: boolean;
}

/** That a provider could not say, and when it may be worth asking again. */
export function unavailable(afterMs = restMs): Verdict {
  return { outcome: 'provider_unavailable', retryAfterSeconds: Math.max(1, Math.ceil(afterMs / 1000)) };
}

/** Asks providers, and leaves alone those that fail: all of one whose breaker is open, or one token that was asked about too often. */
export class IdentityProviders implements AsyncDisposable {
  readonly #asking: Asking;
  readonly #connections: ProviderConnections;
  readonly #gates = new Map<Provider, ProviderGate>();
  readonly #resting = new LRUCache<string, true>({ max: rememberedTokens, perf: Date, ttlResolution: 0 });
  /** The subjects of tokens that were verified lately. */
  readonly #known = new LRUCache<string, string>({ max: rememberedTokens, ttl: knownMs, perf: Date, ttlResolution: 0 });

  constructor(asking: Asking) {
    this.#asking = asking;
    this.#connections = new ProviderConnections(asking.timeoutMs);
  }

  /**
   * Asks `provider` once, or not at all while it is left alone. 200 with id and name is `verified`, 401 and 403 are `refused`, all
   * else is `provider_unavailable` (docs/identity-providers.md has the table).
   */
  async ask(provider: Provider, authorization: string, clientAddress: string): Promise<Asked> {
    const token = digestOf(provider, tokenIn(authorization));
    const resting = this.#resting.getRemainingTTL(token);
    if (resting > 0) return { verdict: unavailable(resting), wasSent: false };
    const begun = performance.now();
    const asked = (verdict: Verdict, wasSent: boolean): Asked => {
      return { verdict, seconds: (performance.now() - begun) / 1000, wasSent };
    };
    try {
      const sender = this.#senderOf(token, clientAddress);
      const answer = await this.#gate(provider).execute(sender, () => this.#inSpan(provider, authorization, token));
      return 'openMs' in answer ? { verdict: unavailable(answer.openMs), wasSent: false } : asked(answer, true);
    } catch (error) {
      this.#asking.told.providerFailed(provider, error);
      if (!(error instanceof TooManyQuestions)) return asked(unavailable(), wasSent(error));
      this.#resting.set(token, true, { ttl: error.restMs });
      return asked(unavailable(error.restMs), true);
    }
  }

  /** Whether questions to `provider` are kept away now because it failed. */
  isCircuitOpen(provider: Provider): boolean {
    return this.#gates.get(provider)?.isShut ?? false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }

  // Anybody can make up tokens: only users who were verified lately count apart from their network.
  #senderOf(token: string, clientAddress: string): string {
    const subject = this.#known.get(token);
    return JSON.stringify(subject === undefined ? ['network', networkOf(clientAddress)] : ['user', subject]);
  }

  // Of which the provider learns nothing: the trace is ours.
  #inSpan(provider: Provider, authorization: string, token: string): Promise<Verdict> {
    const facts = { 'echodrop.provider': provider.advertised };
    return inSpan('ask provider', 'client', facts, () => this.#exchange(provider, authorization, token));
  }

  async #exchange(provider: Provider, authorization: string, token: string): Promise<Verdict> {
    const { status, headers, body } = await this.#connections.ask(provider, authorization);
    if (status === 401 || status === 403) return { outcome: 'refused' };
    if (status === 429) {
      const ms = retryAfterMs(headers['retry-after']) ?? restMs;
      throw new TooManyQuestions(Math.min(Math.max(ms, 1000), longestRestMs), !this.#known.has(token));
    }
    if (status >= 500) throw new Error(`provider answered ${status}`);
    if (status !== 200) throw new NoVerdict(`provider answered ${status}`);
    const caller = readCaller(body, provider, this.#asking.userIdSecret);
    if (!caller) throw new NoVerdict(`provider answered 200 with no ${missingIn(body, provider)}`);
    this.#known.set(token, caller.subject);
    return { outcome: 'verified', caller };
  }

  #gate(provider: Provider): ProviderGate {
    const known = this.#gates.get(provider);
    if (known) return known;
    const { told } = this.#asking;
    const gate = new ProviderGate({
      opened: (ms) => told.circuitOpened(provider, ms),
      closed: () => told.circuitClosed(provider),
    });
    this.#gates.set(provider, gate);
    return gate;
  }
}

// A 429 is often about one user: were it to silence the provider, one user could shut out all others. Nonces differ, the token does not.
function digestOf({ advertised }: Provider, token: string): string {
  return hash('sha256', JSON.stringify([advertised, token]), 'base64');
}
