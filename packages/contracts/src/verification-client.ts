import type { RotatedSecret } from '@echodrop/service/env';
import { inSpan, traceparent } from '@echodrop/service/trace';
import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import { z } from 'zod';
import {
  forgetPath,
  type ProviderUser,
  providersPath,
  providersShape,
  type Question,
  questionShape,
  type Verdict,
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

interface Exchange {
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
  readonly #providers: LRUCache<'list', string[]>;

  constructor(verifier: Verifier) {
    this.#verifier = verifier;
    this.#pool = new Pool(verifier.address, {
      connectTimeout: 2000,
      keepAliveTimeout,
      keepAliveMaxTimeout: keepAliveTimeout,
    });
    this.#providers = new LRUCache({
      max: 1,
      ttl: providersKeptMs,
      allowStaleOnFetchRejection: true,
      fetchMethod: () => this.#askProviders(),
    });
  }

  /** Who the caller is. @throws VerifierUnavailable, or the signal's reason */
  async verify(question: Question, signal: AbortSignal): Promise<Verdict> {
    return this.#exchange('POST', verifyPath, verdictShape, { body: questionShape.encode(question), signal });
  }

  /** What is remembered of a user is believed no more, from now on and by every verifier. @throws VerifierUnavailable */
  async forget(user: ProviderUser): Promise<void> {
    await this.#exchange('POST', forgetPath, z.object({}), { body: user });
  }

  /** The advertised addresses of all configured providers, the first one first; at most 10 s old while the verifier answers. @throws VerifierUnavailable */
  async knownProviders(): Promise<readonly string[]> {
    const providers = await this.#providers.fetch('list');
    if (!providers) throw new VerifierUnavailable('the verifier cannot be asked');
    return providers;
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

  async #exchange<T extends z.ZodType>(
    method: 'GET' | 'POST',
    path: string,
    shape: T,
    exchange: Exchange,
  ): Promise<z.output<T>> {
    const facts = { 'http.request.method': method, 'http.route': path };
    return await inSpan(`${method} ${path}`, 'client', facts, () => this.#request(method, path, shape, exchange));
  }

  async #request<T extends z.ZodType>(
    method: 'GET' | 'POST',
    path: string,
    shape: T,
    { body: question, signal, deadlineMs = this.#verifier.deadlineMs }: Exchange,
  ): Promise<z.output<T>> {
    const deadline = AbortSignal.timeout(deadlineMs);
    const running = traceparent();
    try {
      const { statusCode, body } = await this.#pool.request({
        method,
        path,
        body: question === undefined ? null : JSON.stringify(question),
        headers: {
          authorization: `Bearer ${this.#verifier.secret[0].reveal()}`,
          'content-type': 'application/json',
          ...(running && { traceparent: running }),
        },
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      });
      const answer = await limitedText(body);
      if (statusCode !== 200) throw new Error(`verifier answered ${statusCode}`);
      return shape.parse(JSON.parse(answer));
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw new VerifierUnavailable('the verifier cannot be asked', { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }
}

async function limitedText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxAnswerBytes) throw new Error('verifier answered too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
