import type { Provider } from '@echodrop/identity-provider/provider';
import {
  canHaveArrived,
  type ProviderConnections,
  type ProviderResponse,
} from '@echodrop/identity-provider/provider-connections';

interface Failure {
  readonly sentence: string;
  /** Whether a server accepted the request, so that the Host may be the cause. */
  readonly isConnected: boolean;
}

/** One request to a provider. */
export type Attempt = Completed | { readonly response?: undefined; readonly failure: Failure };

/** `begun` and `ended` are in milliseconds since 1970, by our clock. */
export interface Completed {
  readonly response: ProviderResponse;
  readonly begun: number;
  readonly ended: number;
}

export type Queries = ReturnType<typeof queriesTo>;

/** Queries one provider, without retries. `timeoutMs` is the limit of `connections`. */
export function queriesTo(provider: Provider, connections: ProviderConnections, timeoutMs: number) {
  const attempt = async (target: Provider, authorization?: string): Promise<Attempt> => {
    const begun = Date.now();
    try {
      const response = await connections.query(target, authorization);
      return { response, begun, ended: Date.now() };
    } catch (error) {
      return { failure: explainFailure(error, provider.upstream, timeoutMs) };
    }
  };
  return {
    provider,
    /** Sends the query of the auth-verifier, with the advertised Host. */
    send: (authorization?: string) => attempt(provider, authorization),
    /** Sends the same query with the Host of the upstream address, without credentials. */
    sendByOwnHost: () => attempt({ ...provider, advertised: provider.upstream }),
  };
}

/** Why there was no complete response, by the error's code alone: its message may contain credentials. */
function explainFailure(error: unknown, upstream: string, timeoutMs: number): Failure {
  const { host, hostname } = new URL(upstream);
  const code = codeOf(error);
  const sentences: [codes: RegExp, sentence: string][] = [
    [
      /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|TimeoutError)$/,
      `No complete response within ${timeoutMs} ms: it hangs or is too slow, or a firewall drops the traffic.`,
    ],
    [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'It closes the connection before its response is complete.'],
    [/^ResponseTooLarge$/, 'Its response is too large: over 64 KiB, or over 16 KiB of headers.'],
    [/^(HPE_.*|HTTPParserError)$/, `Its response is not HTTP: does ${host} speak https?`],
    [/^ENOTFOUND$/, `Host name ${hostname} not found.`],
    [/^EAI_AGAIN$/, `DNS lookup of ${hostname} failed: the name server does not respond.`],
    [/^ECONNREFUSED$/, `Connection refused: nothing listens at ${host}.`],
    [/^(EHOST|ENET)UNREACH$/, `No network route to ${host}.`],
    [/^ERR_TLS_CERT_ALTNAME_INVALID$/, `Its TLS certificate is not for ${hostname}.`],
    [/^CERT_HAS_EXPIRED$/, 'Its TLS certificate has expired.'],
    [/^CERT_NOT_YET_VALID$/, 'Its TLS certificate is not valid yet, or our clock is behind.'],
    [
      /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/,
      'Its TLS certificate is not from a trusted authority, or its chain is incomplete. NODE_EXTRA_CA_CERTS can name a file with more authorities.',
    ],
    [/^UND_ERR_INVALID_ARG$/, 'The credentials contain a character that a header cannot carry.'],
    [/^(ERR_SSL_.*|EPROTO)$/, `TLS connection to ${host} failed (${code}): does it speak http?`],
    [/CERT/, `Its TLS certificate is rejected (${code}).`],
  ];
  const sentence = sentences.find(([codes]) => codes.test(code))?.[1] ?? `Request failed (${code}).`;
  return { sentence, isConnected: canHaveArrived(error) };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
