import type { IncomingHttpHeaders } from 'node:http';
import { Agent, buildConnector, request } from 'undici';
import type { Provider } from './provider.ts';

const maxAnswerBytes = 64 * 1024;
const maxHeaderBytes = 16 * 1024;
// Kept open for each provider at most; further questions wait for one, within their deadline.
const connections = 256;

export interface ProviderAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The one place that speaks to the outside. */
export class ProviderConnections implements AsyncDisposable {
  readonly #timeoutMs: number;
  readonly #agent: Agent;

  /** `timeoutMs` is for a whole exchange: connecting, the headers and the body. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    const connect = buildConnector({ timeout: timeoutMs, allowH2: false });
    this.#agent = new Agent({
      connections,
      allowH2: false,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxResponseSize: maxAnswerBytes,
      maxHeaderSize: maxHeaderBytes,
      // undici would take the name for TLS from the Host header, which is the advertised one: whom we connect to is who has to prove its name.
      connect: (options, callback) => connect({ ...options, servername: undefined as never }, callback),
    });
  }

  /**
   * Asks the address that is really asked, as if it were the advertised one, and once, whatever happens (a nonce is good for one
   * question). No redirect is followed.
   * @throws an Error without credentials in its message when there is no whole answer in time, or one of more than 64 KiB
   */
  async ask({ advertised, upstream, profile }: Provider, authorization?: string): Promise<ProviderAnswer> {
    const { statusCode, headers, body } = await request(upstream, {
      dispatcher: this.#agent,
      method: profile.method,
      signal: AbortSignal.timeout(this.#timeoutMs),
      headers: {
        ...(upstream === advertised ? {} : asIfAt(new URL(advertised))),
        ...(authorization === undefined ? {} : { authorization }),
        accept: 'application/json',
        'user-agent': 'Echodrop',
      },
    });
    return { status: statusCode, headers, body: await body.text() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }
}

// Providers check signatures over the address that they advertise; those behind a proxy learn its scheme by the second header.
function asIfAt({ host, protocol }: URL): Record<string, string> {
  return { host, 'x-forwarded-proto': protocol.slice(0, -1) };
}
