import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { exchange } from '@echodrop/service/exchange';
import { Agent, buildConnector, errors } from 'undici';
import type { Provider } from './provider.ts';

const maxBodyBytes = 64 * 1024;
const maxHeaderBytes = 16 * 1024;
// Drops a byte order mark.
const utf8 = new TextDecoder();

export interface ProviderResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, or an empty text if the body is not UTF-8: with replacement characters, two names could become one. */
  readonly body: string;
}

const unconnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|EPROTO|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

/** Whether a provider may have received the request that failed with `error`: false only if no connection was established. */
export function canHaveArrived(error: unknown): boolean {
  return !(error instanceof Error && 'code' in error && unconnected.test(String(error.code)));
}

/** A provider's response exceeds the limits. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
}

/**
 * Sends requests to identity providers. Nothing else sends requests to other operators' servers. In Kubernetes, the policy `verifier-to-providers`
 * (deploy/kubernetes/base/network.yaml) says which networks they may be in.
 */
export class ProviderConnections implements AsyncDisposable {
  readonly #timeoutMs: number;
  readonly #agent: Agent;

  /** `timeoutMs` is for a whole exchange: connection, headers and body. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    const connect = buildConnector({ timeout: timeoutMs, allowH2: false });
    this.#agent = new Agent({
      allowH2: false,
      // `exchange` has one deadline for the whole response.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: maxHeaderBytes,
      // By default, undici verifies the certificate against the Host header, which has the advertised name.
      connect: (options, callback) => connect({ ...options, servername: undefined as never }, callback),
    });
  }

  /**
   * Queries the upstream address, with the Host header of the advertised one. Sends the request once: providers accept a nonce once.
   * Follows no redirects.
   * @throws ResponseTooLarge beyond 64 KiB of body or 16 KiB of headers; without a complete response in time, an Error without
   * credentials in its message
   */
  async query(provider: Provider, authorization?: string): Promise<ProviderResponse> {
    const target = targetOf(provider);
    const request = {
      ...target,
      headers: { ...target.headers, ...(authorization !== undefined && { authorization }) },
    };
    const began = Date.now();
    try {
      const { status, headers, body } = await exchange(this.#agent, request, {
        deadlineMs: this.#timeoutMs,
        maxBytes: maxBodyBytes,
      });
      // The process was suspended: since then the provider may have revoked what it said.
      if (Date.now() - began > this.#timeoutMs)
        throw new DOMException('provider response read too late', 'TimeoutError');
      return { status, headers, body: isUtf8(body) ? utf8.decode(body) : '' };
    } catch (error) {
      const isTooLarge =
        error instanceof errors.ResponseExceededMaxSizeError || error instanceof errors.HeadersOverflowError;
      if (isTooLarge) throw new ResponseTooLarge('provider response too large');
      // The message of undici's error is 'other side closed'.
      if (error instanceof errors.SocketError)
        throw new errors.SocketError('provider closed the connection before its response was complete');
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }
}

// Providers verify signatures over the advertised address; those behind a proxy get its scheme from the second header.
function targetOf({ advertised, upstream }: Provider) {
  const { origin, pathname, search } = new URL(upstream);
  const { host, protocol } = new URL(advertised);
  const proxied = upstream === advertised ? {} : { host, 'x-forwarded-proto': protocol.slice(0, -1) };
  const headers = { ...proxied, accept: 'application/json', 'user-agent': 'Echodrop' };
  return { origin, path: pathname + search, method: 'GET' as const, headers };
}
