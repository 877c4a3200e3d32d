import type { RotatedSecret } from '@echodrop/service/env';
import { exchange } from '@echodrop/service/exchange';
import { inSpan, traceparent } from '@echodrop/service/tracing/trace';
import { Pool } from 'undici';
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
// The verifier knows its providers by heart.
const providersMs = 2000;
const maxAnswerBytes = 64 * 1024;
// We leave idle connections sooner than a verifier that stops ends them (http-server.ts): no question may meet that end.
const keepAliveTimeout = 500;

interface Verifier {
  readonly address: string;
  /** The one in use is sent. */
  readonly secret: RotatedSecret;
  /** Longer than the verifier lets a provider take. */
  readonly deadlineMs: number;
}

interface Asking {
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

/** The verifier is down, hangs, or does not speak our wire. */
export class VerifierUnavailable extends Error {
  override readonly name = 'VerifierUnavailable';
}

/** The gateway's end of the verification wire. */
export class VerificationClient implements AsyncDisposable {
  readonly #pool: Pool;
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
      connectTimeout: 2000,
      keepAliveTimeout,
      keepAliveMaxTimeout: keepAliveTimeout,
      maxResponseSize: maxAnswerBytes,
      // Each exchange has a deadline for all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Who the caller is. @throws VerifierUnavailable, or the signal's reason */
  async verify(question: VerificationRequest, signal: AbortSignal): Promise<Verdict> {
    return this.#exchange('POST', verifyPath, verdictShape, { body: question, signal });
  }

  /** What is remembered of a user is believed no more, from now on and by every verifier. @throws VerifierUnavailable */
  async forget(user: ProviderUser): Promise<void> {
    await this.#exchange('POST', forgetPath, z.object({}), { body: user });
  }

  /** The advertised addresses of all configured providers, the first one first; at most 10 s old while the verifier answers. @throws VerifierUnavailable */
  knownProviders(): Promise<readonly string[]> {
    if (this.#providers && performance.now() < this.#providersFreshUntil) return this.#providers;
    const older = this.#providers;
    // Whoever asks meanwhile waits for the same answer.
    this.#providersFreshUntil = Number.POSITIVE_INFINITY;
    this.#providers = this.#askProviders().then(
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

  /** Resolves when the verifier answers now. @throws VerifierUnavailable */
  async ready(): Promise<void> {
    await this.#askProviders();
  }

  #askProviders(): Promise<string[]> {
    return this.#exchange('GET', providersPath, providersShape, {
      deadlineMs: Math.min(providersMs, this.#verifier.deadlineMs),
    });
  }

  #exchange<T extends z.ZodType>(method: 'GET' | 'POST', path: string, shape: T, asking: Asking): Promise<z.output<T>> {
    const facts = { 'http.request.method': method, 'http.route': path };
    return inSpan(`${method} ${path}`, 'client', facts, () => this.#request(method, path, shape, asking));
  }

  async #request<T extends z.ZodType>(
    method: 'GET' | 'POST',
    path: string,
    shape: T,
    { body: question, signal, deadlineMs = this.#verifier.deadlineMs }: Asking,
  ): Promise<z.output<T>> {
    const running = traceparent();
    const headers = running ? { ...this.#headers, traceparent: running } : this.#headers;
    const text = question === undefined ? null : JSON.stringify(question);
    try {
      const { status, body } = await exchange(this.#pool, { method, path, body: text, headers }, deadlineMs, signal);
      if (status !== 200) throw new Error(`verifier answered ${status}`);
      return shape.parse(JSON.parse(body.toString()));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw new VerifierUnavailable('the verifier cannot be asked', { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }
}
