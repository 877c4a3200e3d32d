import type { RotatedSecret } from '@echodrop/service/env';
import { exchange } from '@echodrop/service/exchange';
import { rememberedLookup } from '@echodrop/service/remembered-lookup';
import { inSpan, traceparent } from '@echodrop/service/tracing/trace';
import { type Dispatcher, interceptors, Pool } from 'undici';
import { z } from 'zod';
import {
  forgetPath,
  type ProviderUser,
  providersPath,
  providersShape,
  type Verdict,
  type VerificationRequest,
  verdictShape,
  verifyPath,
} from './verification.ts';

const providersKeptMs = 10_000;
const providersMs = 2000;
// The address can be a Service with several verifiers, one of them on a lost node. A new connection can reach another verifier.
const connectMs = 250;
const connectRetries = 7;
const maxResponseBytes = 64 * 1024;
// Shorter than a stopping verifier keeps idle connections (http-server.ts), so that it never ends one under a request.
const keepAliveTimeout = 500;

interface Verifier {
  readonly address: string;
  /** One secret, or several during a rotation. The client sends the first. */
  readonly secret: RotatedSecret;
  /** The longest time of a verification: more than the verifier's limit for a provider. */
  readonly deadlineMs: number;
}

interface RequestOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

/** The verifier is down, hangs, or sent an invalid response. */
export class VerifierUnavailable extends Error {
  override readonly name = 'VerifierUnavailable';
}

/** Sends requests to the auth-verifier. */
export class VerificationClient implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #dispatcher: Dispatcher;
  readonly #verifier: Verifier;
  readonly #headers: Readonly<Record<string, string>>;
  #providers: Promise<readonly string[]> | undefined;
  #providersFreshUntil = 0;

  constructor(verifier: Verifier) {
    this.#verifier = verifier;
    this.#headers = {
      authorization: `Bearer ${verifier.secret[0].reveal()}`,
      'content-type': 'application/json',
    };
    this.#pool = new Pool(verifier.address, {
      connect: { timeout: connectMs, lookup: rememberedLookup },
      keepAliveTimeout,
      keepAliveMaxTimeout: keepAliveTimeout,
      // `exchange` has one deadline for the whole response.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    // Only a request that was not sent is repeated: a verification must not run twice (docs/decisions/verification.md).
    const unsent = {
      errorCodes: ['UND_ERR_CONNECT_TIMEOUT', 'ECONNREFUSED', 'EHOSTUNREACH'],
      statusCodes: [],
      methods: ['GET', 'POST'],
    };
    this.#dispatcher = this.#pool.compose(
      interceptors.retry({ ...unsent, maxRetries: connectRetries, minTimeout: 0, maxTimeout: 0, throwOnError: false }),
    );
  }

  /** @throws VerifierUnavailable, or the signal's reason */
  async verify(request: VerificationRequest, signal: AbortSignal): Promise<Verdict> {
    return this.#exchange('POST', verifyPath, verdictShape, { body: request, signal });
  }

  /** Discards the cached verdicts of a user, for every verifier. @throws VerifierUnavailable */
  async forget(user: ProviderUser): Promise<void> {
    await this.#exchange('POST', forgetPath, z.object({}), { body: user });
  }

  /** The advertised addresses of the configured providers, in order; at most 10 s old while the verifier responds. @throws VerifierUnavailable */
  knownProviders(): Promise<readonly string[]> {
    if (this.#providers && performance.now() < this.#providersFreshUntil) return this.#providers;
    const older = this.#providers;
    // Concurrent callers share one request.
    this.#providersFreshUntil = Number.POSITIVE_INFINITY;
    this.#providers = this.#fetchProviders().then(
      (providers) => {
        this.#providersFreshUntil = performance.now() + providersKeptMs;
        return providers;
      },
      (error: unknown) => {
        this.#providersFreshUntil = 0;
        this.#providers = older;
        if (older) return older;
        throw error;
      },
    );
    return this.#providers;
  }

  /** @throws VerifierUnavailable */
  async ready(): Promise<void> {
    await this.#fetchProviders();
  }

  #fetchProviders(): Promise<string[]> {
    return this.#exchange('GET', providersPath, providersShape, {
      deadlineMs: Math.min(providersMs, this.#verifier.deadlineMs),
    });
  }

  #exchange<T extends z.ZodType>(
    method: 'GET' | 'POST',
    path: string,
    shape: T,
    { body, signal, deadlineMs = this.#verifier.deadlineMs }: RequestOptions,
  ): Promise<z.output<T>> {
    const attributes = { 'http.request.method': method, 'http.route': path };
    return inSpan(`${method} ${path}`, 'client', attributes, async () => {
      const running = traceparent();
      const headers = running ? { ...this.#headers, traceparent: running } : this.#headers;
      const text = body === undefined ? null : JSON.stringify(body);
      try {
        const limits = { deadlineMs, maxBytes: maxResponseBytes, signal };
        const response = await exchange(this.#dispatcher, { method, path, body: text, headers }, limits);
        if (response.status !== 200) throw new Error(`verifier responded with ${response.status}`);
        return shape.parse(JSON.parse(response.body.toString()));
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        throw new VerifierUnavailable('verifier request failed', { cause: error });
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }
}
