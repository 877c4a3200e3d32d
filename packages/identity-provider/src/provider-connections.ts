import type { IncomingHttpHeaders } from 'node:http';
import { exchange } from '@echodrop/service/exchange';
import { Agent, buildConnector, errors } from 'undici';
import type { Provider } from './provider.ts';

const maxAnswerBytes = 64 * 1024;
const maxHeaderBytes = 16 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface ProviderResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty if it is not UTF-8: with replacement characters, two names could become one. */
  readonly body: string;
}

/** The parts of a provider request that never change. */
interface Target {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const unconnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|EPROTO|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

/** Whether a provider may have seen the question that ended with `error`: all that is sure not to have connected was not sent. */
export function wasSent(error: unknown): boolean {
  return !(error instanceof Error && 'code' in error && unconnected.test(String(error.code)));
}

/** The provider answered, but more than is read of an answer. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
}

/** The one place that speaks to the outside. */
export class ProviderConnections implements AsyncDisposable {
  readonly #timeoutMs: number;
  readonly #agent: Agent;
  readonly #targets = new WeakMap<Provider, Target>();

  /** `timeoutMs` is for a whole exchange: connecting, the headers and the body. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    const connect = buildConnector({ timeout: timeoutMs, allowH2: false });
    this.#agent = new Agent({
      allowH2: false,
      // Each exchange has a deadline for all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: maxAnswerBytes,
      maxHeaderSize: maxHeaderBytes,
      // undici would take the name for TLS from the Host header, which is the advertised one: whom we connect to is who has to prove its name.
      connect: (options, callback) => connect({ ...options, servername: undefined as never }, callback),
    });
  }

  /**
   * Asks the address that is really asked, as if it were the advertised one, and once, whatever happens (a nonce is good for one
   * question). No redirect is followed.
   * @throws ResponseTooLarge, beyond 64 KiB of body or 16 KiB of headers; when there is no whole answer in time, an Error without
   * credentials in its message
   */
  async query(provider: Provider, authorization?: string): Promise<ProviderResponse> {
    try {
      return await this.#exchange(provider, authorization);
    } catch (error) {
      const isTooLarge =
        error instanceof errors.ResponseExceededMaxSizeError || error instanceof errors.HeadersOverflowError;
      throw isTooLarge ? new ResponseTooLarge('provider answered too much') : error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }

  async #exchange(provider: Provider, authorization?: string): Promise<ProviderResponse> {
    const { origin, path, headers: always } = this.#target(provider);
    const headers = authorization === undefined ? always : { ...always, authorization };
    const request = { origin, path, method: provider.profile.method, headers };
    const { status, headers: received, body } = await exchange(this.#agent, request, this.#timeoutMs);
    return { status, headers: received, body: textIn(body) };
  }

  #target(provider: Provider): Target {
    const known = this.#targets.get(provider);
    if (known) return known;
    const made = targetOf(provider);
    this.#targets.set(provider, made);
    return made;
  }
}

function targetOf({ advertised, upstream }: Provider): Target {
  const { origin, pathname, search } = new URL(upstream);
  const pretended = upstream === advertised ? {} : asIfAt(new URL(advertised));
  const headers = { ...pretended, accept: 'application/json', 'user-agent': 'Echodrop' };
  return { origin, path: pathname + search, headers };
}

function textIn(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return '';
  }
}

// Providers check signatures over the address that they advertise; those behind a proxy learn its scheme by the second header.
function asIfAt({ host, protocol }: URL): Record<string, string> {
  return { host, 'x-forwarded-proto': protocol.slice(0, -1) };
}
